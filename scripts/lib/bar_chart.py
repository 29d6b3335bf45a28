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
LEFT, WIDTH, PITCH = 250, 760, 30


def bar_chart(title, note, bars):
    """@param bars  [(name, value, text, is_other)], from the top down      @return  the SVG's text"""
    height, most = 66 + PITCH * len(bars), max(value for _, value, _, _ in bars)
    size = f'viewBox="0 0 {WIDTH} {height}"'
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{title}">',
             "  <!-- written by scripts/figures.py -->", STYLE,
             f'  <rect class="page" width="{WIDTH}" height="{height}" rx="8"/>',
             f'  <text class="title" x="10" y="20">{title}</text>']
    for i, (name, value, text, is_other) in enumerate(bars):
        kind = "other" if is_other else "bar"
        y, width = 34 + PITCH * i, (WIDTH - LEFT - 130) * value / most
        lines += [f'  <text x="{LEFT - 10}" y="{y + 15}" text-anchor="end">{name}</text>',
                  f'  <rect class="{kind}" x="{LEFT}" y="{y}" width="{width:.1f}" height="20" '
                  'rx="3"/>',
                  f'  <text x="{LEFT + width + 8:.1f}" y="{y + 15}">{text}</text>']
    lines += [f'  <text class="note" x="10" y="{height - 10}">{note}</text>', "</svg>"]
    return "\n".join(lines) + "\n"
