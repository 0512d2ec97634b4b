package history

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/text"
)

// askSave asks for a file, and saves the marked commands to it, or all commands if none is marked.
func (a *actions) askSave(marked []api.HistoryRow) tea.Cmd {
	path, what := text.ShortPath(filepath.Join(a.env.Folder(), "commands.txt"), a.env.Home()), "all commands"
	var ids []int64
	for _, row := range marked {
		if row.Host != "" {
			return a.env.Say("only commands of this machine can be saved to a file", true)
		}
		ids = append(ids, row.ID)
		what = "the marked " + countCommands(len(ids))
		if len(ids) == 1 {
			what = "the marked command"
		}
	}
	a.env.Ask(dialog.NewPrompt("Save "+what+" to", path, func(path string) tea.Cmd {
		return a.saveCommands(a.fullPath(path), ids, false)
	}).SuggestPaths(a.env.Folder(), a.env.Home()))
	return nil
}

// saveCommands writes the commands of the runs with these ids to a file, or of all runs if ids is
// empty.
func (a *actions) saveCommands(path string, ids []int64, overwrite bool) tea.Cmd {
	return panes.AwaitAnswer(a.env.Context(), a.env, func(ctx context.Context, e panes.Engine) (api.HistoryCount, error) {
		return api.HistorySave.Call(ctx, e, api.HistorySaveInput{Path: path, Overwrite: overwrite, IDs: ids})
	}, func(n api.HistoryCount, err error) tea.Cmd {
		// Only the engine knows whether the file exists, because it writes the file.
		if errors.Is(err, api.ReasonExists) {
			panes.AskReplace(a.env, path, func() tea.Cmd { return a.saveCommands(path, ids, true) })
			return nil
		}
		return a.reportFile("saved ", n, " to ", path, err)
	})
}

// reportFile reports the result of saving commands to a file or adding them from one.
func (a *actions) reportFile(did string, n api.HistoryCount, where, path string, err error) tea.Cmd {
	if err != nil {
		return a.env.Say(panes.ErrorText(err), true)
	}
	note := did + countCommands(n.Count) + where + text.ShortPath(path, a.env.Home())
	if n.LeftOut > 0 {
		note += "; left out " + text.Count(n.LeftOut, "damaged or long line")
	}
	return a.env.Say(note, false)
}

func (a *actions) askLoad() tea.Cmd {
	a.env.Ask(dialog.NewPrompt("Add the commands of a text file or a shell's history", shellHistory(), func(path string) tea.Cmd {
		path = a.fullPath(path)
		return panes.Call(a.env.Context(), a.env, func(ctx context.Context, e panes.Engine) (api.HistoryCount, error) {
			return api.HistoryLoad.Call(ctx, e, api.HistoryLoadInput{Path: path, At: time.Now()})
		}, func(n api.HistoryCount, err error) tea.Cmd { return a.reportFile("added ", n, " from ", path, err) })
	}).SuggestPaths(a.env.Folder(), a.env.Home()))
	return nil
}

// fullPath returns a typed path made absolute.
func (a *actions) fullPath(path string) string {
	path = text.ExpandHome(path, a.env.Home())
	if !filepath.IsAbs(path) {
		path = filepath.Join(a.env.Folder(), path)
	}
	return path
}

// shellHistory returns the path of the history of the user's shell.
func shellHistory() string {
	switch filepath.Base(os.Getenv("SHELL")) {
	case "zsh":
		return "~/.zsh_history"
	case "fish":
		return "~/.local/share/fish/fish_history"
	}
	return "~/.bash_history"
}
