package manual

import (
	"bytes"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tandem/ui/cli/output"
)

// nameCompletion replaces the texts of cobra's completion command, and makes it reject unknown
// shells.
func nameCompletion(out *output.Printer, cmd *cobra.Command) {
	cmd.Use = "completion bash|zsh|fish|powershell"
	cmd.DisableFlagsInUseLine = true
	cmd.Short = "Print the script that lets your shell complete commands and names"
	cmd.Long = "Prints the script that lets a shell complete commands, flags and names."
	cmd.Example = "source <(tandem completion bash)\n" +
		"tandem completion zsh > \"${fpath[1]}/_tandem\"\n" +
		"tandem completion fish > ~/.config/fish/completions/tandem.fish"
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		const shells = "bash, zsh, fish or powershell"
		if len(args) == 0 {
			return output.Usagef(cmd, "which shell? Give %s.", shells)
		}
		return output.Usagef(cmd, "no completion for %s; must be %s", output.Visible(args[0]), shells)
	}
	for _, c := range cmd.Commands() {
		nameScript(c)
		c.RunE = func(cmd *cobra.Command, _ []string) error { return printScript(out, cmd) }
	}
}

// nameScript replaces the texts of the command for one shell.
func nameScript(cmd *cobra.Command) {
	shell := cmd.Name()
	load := map[string]string{
		"bash":       "source <(tandem completion bash)",
		"zsh":        "source <(tandem completion zsh)",
		"fish":       "tandem completion fish | source",
		"powershell": "tandem completion powershell | Out-String | Invoke-Expression",
	}[shell]
	cmd.Short = "Print the script for " + shell
	cmd.Long = "Prints the script for " + shell + ". The example loads it into the running shell;\nput the line into the shell's start-up file to load it always."
	cmd.Example = load
	cmd.DisableFlagsInUseLine = true
	if f := cmd.Flags().Lookup("no-descriptions"); f != nil {
		f.Usage = "leave out descriptions"
	}
}

const (
	// bashWords is the call in cobra's script that reads the words of a line. The function is part
	// of the bash-completion package.
	bashWords = "    _get_comp_words_by_ref \"$@\" cur prev words cword\n"
	// bashOwnWords does the same without that package. It joins words split by readline at = and :,
	// if there is no blank between them.
	bashOwnWords = `    if declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
        _get_comp_words_by_ref "$@" cur prev words cword
        return
    fi
    local i word gap rest=$COMP_LINE
    words=()
    cword=0
    for ((i = 0; i < ${#COMP_WORDS[@]}; i++)); do
        word=${COMP_WORDS[i]}
        gap=${rest%%[!$' \t']*}
        rest=${rest#"$gap"}
        rest=${rest#"$word"}
        if ((i > 0)) && [[ -z $gap && ( $word == [=:]* || ${COMP_WORDS[i-1]} == *[=:] ) ]]; then
            words[${#words[@]}-1]+=$word
        else
            words+=("$word")
        fi
        ((i == COMP_CWORD)) && cword=$((${#words[@]} - 1))
    done
    cur=${words[cword]}
    prev=${words[cword > 0 ? cword - 1 : 0]}
`
)

// printScript prints the script for the shell that cmd is named after.
func printScript(out *output.Printer, cmd *cobra.Command) error {
	plain, err := cmd.Flags().GetBool("no-descriptions")
	if err != nil {
		return err
	}
	var script bytes.Buffer
	switch root, shell := cmd.Root(), cmd.Name(); {
	case shell == "bash":
		err = root.GenBashCompletionV2(&script, !plain)
	case shell == "zsh" && plain:
		err = root.GenZshCompletionNoDesc(&script)
	case shell == "zsh":
		err = root.GenZshCompletion(&script)
	case shell == "fish":
		err = root.GenFishCompletion(&script, !plain)
	case plain:
		err = root.GenPowerShellCompletion(&script)
	default:
		err = root.GenPowerShellCompletionWithDesc(&script)
	}
	if err != nil {
		return err
	}
	// Many systems lack the bash-completion package.
	text := strings.Replace(script.String(), bashWords, bashOwnWords, 1)
	return out.Answer(map[string]string{"script": text}, func() string { return text })
}

// PlainUsages removes the quotes around value names from the usage of flags: help parses them, but
// completion would print them.
func PlainUsages(cmd *cobra.Command) {
	plain := func(f *pflag.Flag) { _, f.Usage = pflag.UnquoteUsage(f) }
	cmd.Flags().VisitAll(plain)
	cmd.PersistentFlags().VisitAll(plain)
	for _, c := range cmd.Commands() {
		PlainUsages(c)
	}
}
