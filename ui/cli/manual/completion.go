package manual

import (
	"bytes"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"
)

// NewCompletion returns the command completion, in place of cobra's.
func NewCompletion(f *factory.Factory) *cobra.Command {
	const shells = "bash, zsh, fish or powershell"
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print the script that lets your shell complete commands and names",
		Long: "Prints the script that lets a shell complete commands, flags and names. To load it in every shell,\n" +
			"put the example line for bash or powershell into its start-up file. Descriptions are left\n" +
			"out if $TANDEM_COMPLETION_DESCRIPTIONS is false.",
		Example: "source <(tandem completion bash)\n" +
			"tandem completion zsh > \"${fpath[1]}/_tandem\"\n" +
			"tandem completion fish > ~/.config/fish/completions/tandem.fish\n" +
			"tandem completion powershell | Out-String | Invoke-Expression",
		Annotations: factory.Here.Annotations(),
		Args:        factory.Exactly(1, "which shell? Give "+shells+"."),
		ValidArgsFunction: factory.First(cobra.FixedCompletions(
			[]cobra.Completion{"bash", "zsh", "fish", "powershell"}, cobra.ShellCompDirectiveNoFileComp)),
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			write := map[string]func(io.Writer) error{
				"bash":       func(to io.Writer) error { return root.GenBashCompletionV2(to, true) },
				"zsh":        root.GenZshCompletion,
				"fish":       func(to io.Writer) error { return root.GenFishCompletion(to, true) },
				"powershell": root.GenPowerShellCompletionWithDesc,
			}[args[0]]
			if write == nil {
				return output.Usagef(cmd, "no completion for %s; must be %s", output.Visible(args[0]), shells)
			}
			var script bytes.Buffer
			if err := write(&script); err != nil {
				return err
			}
			text := strings.NewReplacer(bashWords, bashOwnWords, zshTab, zshOwnTab, fishRequest, fishOwnRequest).Replace(script.String())
			return f.Out.Answer(map[string]string{"script": text}, func() string { return text })
		},
	}
}

const (
	// bashWords is the call in cobra's script that reads the words of a line. The function is part
	// of the bash-completion package, which many systems lack.
	bashWords = "    _get_comp_words_by_ref \"$@\" cur prev words cword\n"
	// bashOwnWords replaces bashWords. It reads the words without the bash-completion package if
	// need be, and joins words split by readline at = and : if there is no blank between them.
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

const (
	// zshTab starts a process for each candidate, which zshOwnTab does not.
	zshTab    = `local tab="$(printf '\t')"`
	zshOwnTab = `local tab=$'\t'`
)

const (
	// fishRequest is the line in cobra's script that builds the command line for eval. fish has
	// removed the quotes of args, so eval would run a substitution in the name of a file.
	fishRequest = "    set -l requestComp \"TANDEM_ACTIVE_HELP=0 $args[1] __complete $args[2..-1] $lastArg\"\n"
	// fishOwnRequest quotes the words again. A leading ~ must stay without quotes.
	fishOwnRequest = `    set -l words
    for arg in $args[2..-1]
        string match -qr '^[\w@%+=:,./~-]+$' -- $arg; or set arg (string escape -- $arg)
        set -a words $arg
    end
    set -l requestComp "TANDEM_ACTIVE_HELP=0 $args[1] __complete $words $lastArg"
`
)

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
