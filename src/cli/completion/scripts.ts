/**
 * The scripts that `completion` prints. Each runs `conclave complete -- WORDS` with the words up to
 * the cursor, none of which it evaluates. The last line of the answer is `:0` if the shell is to
 * complete files, `:4` otherwise.
 */

const BASH = `# bash completion for conclave
__conclave_complete() {
    local cur prev words cword out line
    if declare -F _get_comp_words_by_ref >/dev/null; then
        # Bash splits words at = and :, which this joins again.
        _get_comp_words_by_ref -n "=:" cur prev words cword
    else
        words=("\${COMP_WORDS[@]}") cword=$COMP_CWORD cur=\${COMP_WORDS[COMP_CWORD]}
    fi
    out=$(conclave complete -- "\${words[@]:1:cword}" 2>/dev/null)
    COMPREPLY=()
    [[ \${out##*$'\\n'} == :4 ]] && compopt +o default 2>/dev/null
    while IFS= read -r line; do
        line=\${line%%$'\\t'*}
        [[ $line != :[04] && $line == "$cur"* ]] && COMPREPLY+=("$line")
    done <<< "$out"
    if declare -F __ltrim_colon_completions >/dev/null; then
        __ltrim_colon_completions "$cur"
    fi
}
complete -o default -F __conclave_complete conclave
`;

const ZSH = `#compdef conclave
# zsh completion for conclave
_conclave() {
    local line directive=:0 tab=$'\\t'
    local -a found
    for line in "\${(@f)$(conclave complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
        if [[ $line == :[04] ]]; then
            directive=$line
        elif [[ -n $line ]]; then
            # _describe separates the description by a colon.
            line=\${line//:/\\\\:}
            found+=("\${line/$tab/:}")
        fi
    done
    if (( \${#found} )); then
        _describe conclave found
    elif [[ $directive == :0 ]]; then
        _files
    fi
}
# Loaded by fpath, the file is the function itself; otherwise it is sourced.
if [[ \${funcstack[1]} == _conclave ]]; then
    _conclave "$@"
else
    compdef _conclave conclave
fi
`;

const FISH = `# fish completion for conclave
function __conclave_complete
    set -l words (commandline -opc)
    set -l last (commandline -ct)
    set -l found (conclave complete -- $words[2..-1] "$last" 2>/dev/null)
    if test "$found[-1]" = ":0"
        __fish_complete_path "$last"
    else
        string match --invert --regex '^:[04]$' -- $found
    end
end
complete -c conclave -e
complete -c conclave -f -a '(__conclave_complete)'
`;

export const SCRIPTS: Readonly<Record<string, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
export const SHELLS: readonly string[] = Object.keys(SCRIPTS);
