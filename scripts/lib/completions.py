# scripts/lib/completions.py - completion of the programs in bash, zsh and fish, from what they say of their options.
#
# Offered are options, the words that an option knows, data sets below data/ and runs below runs/, and files.
from typing import NamedTuple

DATASETS = {"dataset", "features-as"}
RUNS = {"run", "resume"}
FOLDERS = {"data": DATASETS, "runs": RUNS}


class Program(NamedTuple):
    name: str
    about: object  # help_pages.Help
    commands: dict  # name -> Help

    def parts(self):
        """(command, or "" for the program itself, its Help)"""
        return [("", self.about), *self.commands.items()]


def values_of(said, name, text):
    """Of what an option's value is: a list of words, the folder of what it names, or None."""
    if words := said.words_of(text):
        return words
    return next((folder for folder, names in FOLDERS.items() if name in names), None)


def bash(program):
    function = "_" + program.name.replace("-", "_")
    known = {name: values for _, said in program.parts() for name, _, text in said.options
             if (values := values_of(said, name, text))}
    lines = [f"# bash completion of {program.name}", f"{function}() {{",
             "  local now=${COMP_WORDS[COMP_CWORD]} words=", "  case ${COMP_WORDS[COMP_CWORD-1]} in"]
    for name, values in known.items():
        offered = (f"-W '{' '.join(values)}' -- \"$now\"" if isinstance(values, list) else
                   '-W "$(cd data 2>/dev/null && ls)" -- "$now"; compgen -d -- "$now"' if values == "data" else
                   '-d -- "${now:-runs/}"')
        lines.append(f"    --{name}) COMPREPLY=($(compgen {offered})); return ;;")
    lines += ["  esac", "  case ${COMP_WORDS[1]} in"]
    lines += [f"    {command}) words='{' '.join('--' + o for o, _, _ in said.options)}' ;;"
              for command, said in program.commands.items()]
    own = [*program.commands, *("--" + o for o, _, _ in program.about.options)]
    first = "((COMP_CWORD == 1))" if program.commands else "false"
    lines += [f"    *) words='{' '.join(own)}' ;;", "  esac", f"  if [[ $now == -* ]] || {first}; then",
              "    COMPREPLY=($(compgen -W \"$words\" -- \"$now\"))", "  else",
              "    COMPREPLY=($(compgen -f -- \"$now\"))", "  fi", "}",
              f"complete -o filenames -F {function} {program.name}"]
    return "\n".join(lines) + "\n"


def zsh_spec(said, name, value, text):
    plain = "".join("" if c in "[]'\\" else c for c in text).replace(":", "\\:")
    values = values_of(said, name, text)
    action = (f"({' '.join(values)})" if isinstance(values, list) else
              f"_salient_{values}" if values else "_files")
    return f"'--{name}[{plain}]" + (f":{name}:{action}'" if value or values else "'")


def zsh(program):
    function = "_" + program.name.replace("-", "_")
    lines = [f"#compdef {program.name}", f"# zsh completion of {program.name}",
             "_salient_data() { compadd -- data/*(/N:t); _files -/ }",
             "_salient_runs() { compadd -- runs/*(/N); _files -/ }", f"{function}() {{"]
    for command, said in [*program.commands.items(), ("", program.about)]:
        specs = [zsh_spec(said, *option) for option in said.options]
        if command:
            lines.append(f"  if [[ $words[2] == {command} ]]; then")
        lines += ["    _arguments \\", *(f"      {spec} \\" for spec in specs)]
        if not command and program.commands:
            lines.append(f"      '1:command:({' '.join(program.commands)})' \\")
        lines += ["      '*:file:_files'", *(["    return", "  fi"] if command else [])]
    return "\n".join([*lines, "}", f'{function} "$@"']) + "\n"


def fish(program):
    lines = [f"# fish completion of {program.name}"]
    for command, said in program.parts():
        where = (f" -n '__fish_seen_subcommand_from {command}'" if command else
                 f" -n 'not __fish_seen_subcommand_from {' '.join(program.commands)}'" if program.commands else "")
        if command:
            lines.append(f"complete -c {program.name} -n __fish_use_subcommand -f -a {command}")
        for name, value, text in said.options:
            values = values_of(said, name, text)
            offered = (f" -x -a '{' '.join(values)}'" if isinstance(values, list) else
                       " -r -f -a '(path basename data/*/) (__fish_complete_directories)'" if values == "data" else
                       " -r -f -a '(path normalize runs/*/) (__fish_complete_directories)'" if values == "runs" else
                       " -r" if value else "")
            plain = text.replace("\\", "").replace("'", "\\'")
            lines.append(f"complete -c {program.name}{where} -l {name}{offered} -d '{plain}'")
    return "\n".join(lines) + "\n"


# What makes the text, the folder below share/, the file's name. zsh looks into the second folder of /usr, as Debian has
# it, and into the first of other prefixes.
FILES = [(bash, "bash-completion/completions", "{}"),
         (zsh, "zsh/site-functions", "_{}"),
         (zsh, "zsh/vendor-completions", "_{}"),
         (fish, "fish/vendor_completions.d", "{}.fish")]


def write_completions(program, folder):
    """@param folder  that of a prefix's share/"""
    for make, where, name in FILES:
        (folder / where).mkdir(parents=True, exist_ok=True)
        (folder / where / name.format(program.name)).write_text(make(program))
