package engine

import (
	"context"
	"errors"
	"path/filepath"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/files"
	"tandem/engine/names"
	"tandem/persist/histdb"
)

// handleHistory serves the operations of the history.
func (h *host) handleHistory(m *server.Mux) {
	server.Handle(m, api.HistorySearch, h.history.Search)
	server.Handle(m, api.HistoryAdd, h.history.Add)
	server.Handle(m, api.HistoryRemove, h.history.Remove)
	server.Handle(m, api.HistoryClear, h.history.Clear)
	server.Handle(m, api.HistorySave, h.historySave)
	server.Handle(m, api.HistoryLoad, h.historyLoad)
	server.Handle(m, api.HistoryLoading, h.history.Loading)
	server.Handle(m, api.HistoryStats, h.history.Stats)
}

func (h *host) historySave(ctx context.Context, in api.HistorySaveInput) (api.HistoryCount, error) {
	none := api.HistoryCount{}
	if err := checkCommandFile("save", in.Path); err != nil {
		return none, err
	}
	if in.Recent && len(in.IDs) > 0 {
		return none, api.Errorf(api.CodeInvalid, "save history: ids are of the history, not of the recent list")
	}
	lines := h.recent.List()
	if !in.Recent {
		var err error
		if lines, err = h.history.Lines(ctx, in.IDs); err != nil {
			return none, err
		}
	}
	text, n := histdb.EncodeCommands(lines)
	out, err := onFiles(ctx, h.files, in.FileScope, func(t *files.Tree) (files.WriteResult, error) {
		return t.Write(ctx, files.WriteRequest{Path: in.In(in.Path), Data: text, New: !in.Overwrite, Private: true})
	})
	if errors.Is(err, api.CodeConflict) && !in.Overwrite {
		return none, api.Errorf(api.CodeConflict, "save history to %s: the file exists", names.Shown(in.Path)).
			WithHint("overwrite replaces it")
	}
	return api.HistoryCount{Count: n, Replaced: out.Replaced}, err
}

func checkCommandFile(verb, path string) error {
	if !filepath.IsAbs(path) {
		return api.Errorf(api.CodeInvalid, "%s history: the path %s is not absolute", verb, names.Shown(path))
	}
	return nil
}

// mostCommands bounds a file of commands, in bytes.
const mostCommands = 256 << 20

// commandsOf reads a file of commands.
func (h *host) commandsOf(ctx context.Context, in api.HistoryLoadInput) ([]histdb.TextCommand, error) {
	text, err := onFiles(ctx, h.files, in.FileScope, func(t *files.Tree) ([]byte, error) {
		return t.ReadAll(ctx, in.In(in.Path), mostCommands)
	})
	if err != nil {
		return nil, err
	}
	commands, err := histdb.DecodeCommands(text, !in.Recent)
	if err != nil {
		return nil, api.Errorf(api.CodeInvalid, "load history from %s: %v", names.Shown(in.Path), err)
	}
	return commands, nil
}

func (h *host) historyLoad(ctx context.Context, in api.HistoryLoadInput) (api.HistoryCount, error) {
	none := api.HistoryCount{}
	if err := checkCommandFile("load", in.Path); err != nil {
		return none, err
	}
	commands, err := h.commandsOf(ctx, in)
	switch {
	case err != nil:
		return none, err
	case in.Recent:
		lines := make([]string, len(commands))
		for i, c := range commands {
			lines[i] = c.Line
		}
		return api.HistoryCount{Count: len(h.recent.Replace(lines))}, nil
	}
	n, err := h.history.Load(ctx, in.Path, commands)
	return api.HistoryCount{Count: n}, err
}
