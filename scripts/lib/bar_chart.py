# scripts/lib/bar_chart.py - a chart of a few bars in SVG, light and dark by the reader's preference.
STYLE = """  <style>
    text { font: 13px system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; fill: #1b1f24; }
    .title { font-weight: 600; font-size: 14px; } .note { font-size: 12px; fill: #57606a; }
    .page { fill: #ffffff; } .bar { fill: #0072b2; } .other { fill: #8c8c8c; }
    @media (prefers-color-scheme: dark) {
      .page { fill: #0f1318; } text { fill: #e6e9ed; } .note { fill: #9aa5b1; }
      .bar { fill: #56b4e9; } .other { fill: #8f99a3; }
    }
  </style>"""
LEFT, WIDTH, PITCH, NOTE = 250, 760, 30, 36


def bar_chart(title, groups):
    """@param groups  [(note, [(name, value, text, is_other)])], from the top down, all to one scale; the note is below
    the bars of its group      @return  the SVG's text"""
    most = max(value for _, bars in groups for _, value, _, _ in bars)
    lines, y = [], 34
    for note, bars in groups:
        for name, value, text, is_other in bars:
            kind = "other" if is_other else "bar"
            width = (WIDTH - LEFT - 130) * value / most
            lines += [f'  <text x="{LEFT - 10}" y="{y + 15}" text-anchor="end">{name}</text>',
                      f'  <rect class="{kind}" x="{LEFT}" y="{y}" width="{width:.1f}" height="20" rx="3"/>',
                      f'  <text x="{LEFT + width + 8:.1f}" y="{y + 15}">{text}</text>']
            y += PITCH
        lines.append(f'  <text class="note" x="10" y="{y + 14}">{note}</text>')
        y += NOTE
    height = y - 8
    head = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{title}">',
            "  <!-- written by scripts/figures.py -->", STYLE,
            f'  <rect class="page" width="{WIDTH}" height="{height}" rx="8"/>',
            f'  <text class="title" x="10" y="20">{title}</text>']
    return "\n".join([*head, *lines, "</svg>"]) + "\n"
