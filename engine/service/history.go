package service

import (
	"context"
	"errors"
	"path/filepath"
	"unicode/utf8"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/base/names"
	"tandem/engine/record/history"
	"tandem/engine/remote/all"
	"tandem/engine/workspace/files"
	"tandem/persist/histdb"
)

// History serves the operations on the history. Some of them read or write a file.
type History struct {
	*history.History
	Recent *history.Recent
	Files  *Files
	Others *all.Machines
}

// Handle registers the operations on the history and on the list of recent commands.
func (s History) Handle(m *server.Mux) {
	server.Handle(m, api.HistorySearch, func(ctx context.Context, in api.HistorySearchInput) (api.HistorySearchOutput, error) {
		return s.Others.Search(ctx, in, s.Search)
	})
	server.Handle(m, api.HistoryAdd, s.Add)
	server.Handle(m, api.HistoryRemove, s.Remove)
	server.Handle(m, api.HistoryClear, s.Clear)
	server.Handle(m, api.HistorySave, s.saveCommands)
	server.Handle(m, api.HistoryLoad, s.loadCommands)
	server.Handle(m, api.HistoryLoading, s.Loading)
	server.Handle(m, api.HistoryStats, s.Stats)
	s.handleRecent(m)
}

func (s History) saveCommands(ctx context.Context, in api.HistorySaveInput) (api.HistoryCount, error) {
	none := api.HistoryCount{}
	if err := checkCommandFile("save", in.Path); err != nil {
		return none, err
	}
	if in.Recent && len(in.IDs) > 0 {
		return none, api.Errorf(api.CodeInvalid, "save history: ids select from the history, not from recent commands")
	}
	lines := s.Recent.List()
	if !in.Recent {
		var err error
		if lines, err = s.Lines(ctx, in.IDs); err != nil {
			return none, err
		}
	}
	text, n := histdb.EncodeCommands(lines)
	out, err := onFiles(ctx, s.Files, in.FileScope, func(t *files.Tree) (files.WriteResult, error) {
		return t.Write(ctx, files.WriteRequest{Path: in.In(in.Path), Data: text, New: !in.Overwrite, Private: true})
	})
	// The error is replaced only for its hint, which must name the flag and not the operation's
	// field.
	if errors.Is(err, api.ReasonExists) {
		return none, api.Errorf(api.CodeConflict, "save history to %s: the file already exists", names.ShownPath(in.Path)).
			WithReason(api.ReasonExists).WithHint("--overwrite replaces it")
	}
	return api.HistoryCount{Count: n, Replaced: out.Replaced}, err
}

func checkCommandFile(verb, path string) error {
	if !filepath.IsAbs(path) {
		return api.Errorf(api.CodeInvalid, "%s history: the path %s is not absolute", verb, names.ShownPath(path))
	}
	return nil
}

// maxCommandFile is the maximum size of a file of commands, in bytes.
const maxCommandFile = 256 << 20

// readAtuin reads the history of atuin. database is the content of its database file.
func (s History) readAtuin(ctx context.Context, in api.HistoryLoadInput, database []byte) ([]histdb.TextCommand, error) {
	wal, err := onFiles(ctx, s.Files, in.FileScope, func(t *files.Tree) ([]byte, error) {
		return t.ReadAll(ctx, in.In(in.Path)+"-wal", maxCommandFile)
	})
	if err != nil && !errors.Is(err, api.CodeNotFound) {
		return nil, err
	}
	commands, err := histdb.DecodeAtuin(ctx, database, wal)
	if err != nil {
		return nil, api.Errorf(api.CodeInvalid, "load history from %s: %v", names.ShownPath(in.Path), err)
	}
	return commands, nil
}

// readCommands reads a file of commands. damaged is the number of lines it could not read.
func (s History) readCommands(ctx context.Context, in api.HistoryLoadInput) (commands []histdb.TextCommand, damaged int, err error) {
	text, err := onFiles(ctx, s.Files, in.FileScope, func(t *files.Tree) ([]byte, error) {
		return t.ReadAll(ctx, in.In(in.Path), maxCommandFile)
	})
	if err != nil {
		return nil, 0, err
	}
	if in.Recent && !utf8.Valid(text) {
		return nil, 0, api.Errorf(api.CodeInvalid, "load history from %s: it is not UTF-8", names.ShownPath(in.Path))
	}
	if !in.Recent && histdb.IsDatabase(text) {
		commands, err = s.readAtuin(ctx, in, text)
		return commands, 0, err
	}
	commands, damaged, err = histdb.DecodeCommands(text, !in.Recent, histdb.Format(in.Format))
	if err != nil {
		return nil, 0, api.Errorf(api.CodeInvalid, "load history from %s: %v", names.ShownPath(in.Path), err)
	}
	return commands, damaged, nil
}

func (s History) loadCommands(ctx context.Context, in api.HistoryLoadInput) (api.HistoryCount, error) {
	none := api.HistoryCount{}
	if err := checkCommandFile("load", in.Path); err != nil {
		return none, err
	}
	switch histdb.Format(in.Format) {
	case histdb.FormatAny, histdb.FormatBash, histdb.FormatZsh, histdb.FormatFish:
	default:
		return none, api.Errorf(api.CodeInvalid, "load history: format %s: must be bash, zsh or fish", names.Shown(in.Format))
	}
	commands, damaged, err := s.readCommands(ctx, in)
	switch {
	case err != nil:
		return none, err
	case in.Recent:
		lines := make([]string, len(commands))
		for i, c := range commands {
			lines[i] = c.Line
		}
		return api.HistoryCount{Count: len(s.Recent.Replace(lines))}, nil
	}
	leftOut := damaged
	for _, c := range commands {
		if len(c.Line) > history.MaxLine {
			leftOut++
		}
	}
	n, err := s.Load(ctx, in.Path, commands, in.At)
	return api.HistoryCount{Count: n, LeftOut: leftOut}, err
}

// handleRecent registers the operations on the list of agents' recent commands.
func (s History) handleRecent(m *server.Mux) {
	answer := func(lines []string) (api.CommandsOutput, error) {
		if lines == nil {
			lines = []string{}
		}
		return api.CommandsOutput{Commands: lines}, nil
	}
	server.Handle(m, api.CommandsList, func(context.Context, api.Empty) (api.CommandsOutput, error) {
		return answer(s.Recent.List())
	})
	server.Handle(m, api.CommandsAdd, func(_ context.Context, in api.CommandsInput) (api.CommandsOutput, error) {
		return answer(s.Recent.Add(in.Commands))
	})
	server.Handle(m, api.CommandsReplace, func(_ context.Context, in api.CommandsInput) (api.CommandsOutput, error) {
		return answer(s.Recent.Replace(in.Commands))
	})
}
