package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/keeper"
	"tandem/engine/service"
	"tandem/engine/supervise"
	"tandem/persist/store"
)

// auditName is the log of what agents did, in the data folder.
const auditName = "audit.jsonl"

// stopAllPatience bounds how long engine.stop waits for everything to end,
// beyond the longest stop time-out.
const stopAllPatience = 7 * time.Second

// mux serves the operation table.
func (h *host) mux() *server.Mux {
	m := server.NewMux(h.guard.Check)
	m.Log = h.log
	server.Handle(m, api.EngineInfo, h.engineInfo)
	server.Handle(m, api.EngineStop, h.engineStop)
	server.Handle(m, api.SessionStart, h.sessionStart)
	server.Handle(m, api.SessionList, h.sessionList)
	server.Handle(m, api.SessionGet, h.sessionGet)
	server.Handle(m, api.SessionWrite, h.sessionWrite)
	server.Handle(m, api.SessionRead, h.sessionRead)
	server.Handle(m, api.SessionScreen, h.sessionScreen)
	server.Handle(m, api.SessionResize, h.sessionResize)
	server.Handle(m, api.SessionRename, h.sessionRename)
	server.Handle(m, api.SessionKill, h.sessionKill)
	server.Handle(m, api.SessionRecord, h.sessionRecord)
	server.Handle(m, api.SessionFind, h.sessionFind)
	server.Handle(m, api.SessionText, h.sessionText)
	server.Handle(m, api.ProcessStart, h.processStart)
	server.Handle(m, api.ProcessList, h.processList)
	server.Handle(m, api.ProcessGet, h.processGet)
	server.Handle(m, api.ProcessStop, h.processStop)
	server.Handle(m, api.ProcessStopAll, h.processStopAll)
	server.Handle(m, api.ProcessRestart, h.processRestart)
	server.Handle(m, api.ProcessSignal, h.processSignal)
	server.Handle(m, api.ProcessLog, h.processLog)
	server.Handle(m, api.ProcessWait, h.processWait)
	server.Handle(m, api.ProcessUpdate, h.processUpdate)
	server.Handle(m, api.ProcessRemove, h.processRemove)
	server.Handle(m, api.ProcessWrite, h.processWrite)
	server.Handle(m, api.Exec, h.exec)
	h.handleShells(m)
	h.env.Handle(m)
	h.files.Handle(m)
	h.layouts.Handle(m)
	service.History{History: h.history, Recent: &h.recent, Files: h.files}.Handle(m)
	(&service.Approvals{Arbiter: h.arbiter, Audit: store.NewLines(filepath.Join(h.o.DataDir, auditName)), Log: h.log, Find: h.idAndName, Folder: h.folderOf}).Handle(m)
	m.HandleWatch(h.watch)
	m.HandleAttach(h.attach)
	return m
}

func (h *host) idAndName(ctx context.Context, what string) (id, name string, err error) {
	e, err := h.control.Entry(ctx, what)
	return e.Rec.ID, e.Rec.Name, err
}

// info runs on the control goroutine.
func (h *host) info() api.Info {
	socket, _ := api.Sockets(h.o.DataDir)
	return api.Info{
		EnginePID: os.Getpid(),
		KeeperPID: h.link.pid(),
		Version:   h.o.Version,
		Protocol:  api.Protocol,
		DataDir:   h.o.DataDir,
		Socket:    socket,
		BootID:    h.bootID,
		Running:   h.control.Running(),
	}
}

func (h *host) engineInfo(ctx context.Context, _ api.Empty) (api.Info, error) {
	return supervise.Ask(ctx, h.control, h.info)
}

// engineStop answers when nothing can fail any more, and ends the engine
// behind the answer.
func (h *host) engineStop(ctx context.Context, in api.EngineStopInput) (api.Empty, error) {
	h.log.Info("request", "event", "engine stop", "all", in.All, "replace", in.Replace, "restart", in.Restart, "by", server.CallerOf(ctx).Name)
	client, err := h.link.get(ctx)
	if err != nil {
		return api.Empty{}, err
	}
	switch {
	case in.All && (in.Replace != "" || in.Restart) || in.Replace != "" && in.Restart:
		return api.Empty{}, api.Errorf(api.CodeInvalid, "stop engine: all, replace and restart exclude one another")
	case in.Restart:
		return api.Empty{}, replaceBy(ctx, client, "/proc/self/exe")
	case in.Replace != "":
		return api.Empty{}, replaceBy(ctx, client, in.Replace)
	case in.All:
		if err := h.stopAll(ctx); err != nil {
			return api.Empty{}, err
		}
	}
	if err := h.pauseKeeper(ctx); err != nil {
		h.control.Reopen()
		return api.Empty{}, api.Errorf(api.CodeUnavailable, "stop engine: %v", err)
	}
	h.announceStop(ctx, in.All)
	h.stop()
	return api.Empty{}, nil
}

// pauseKeeper has the keeper start no engine when this one ends; one that has
// died meanwhile has a successor.
func (h *host) pauseKeeper(ctx context.Context) error {
	for {
		client, err := h.link.get(ctx)
		if err == nil {
			err = client.Pause(ctx)
		}
		if !errors.Is(err, keeper.ErrLost) {
			return err
		}
		select {
		case <-time.After(keeperRetry):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// announceStop tells clients that nothing is lost, so that none starts the
// engine again.
func (h *host) announceStop(ctx context.Context, all bool) {
	text := "the engine was stopped; sessions go on, and tandem brings them back"
	if all {
		text = "everything was ended, and the engine with it"
	}
	h.control.TellNow(ctx, api.Event{Type: api.EventStopped, Notice: text})
}

// replacePatience bounds how long the keeper may take to take another executable.
const replacePatience = 5 * time.Second

// replaceBy hands the keeper another executable; it then ends this engine. That
// end may come before the keeper's answer, and with it that of ctx: who has asked
// is told all the same, and does not ask the next engine again.
func replaceBy(ctx context.Context, client keeperClient, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return api.Errorf(api.CodeInvalid, "replace engine: %v", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return api.Errorf(api.CodeInvalid, "replace engine: %s is not an executable file", path)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), replacePatience)
	defer cancel()
	if err := client.Replace(ctx, f); err != nil {
		return api.Errorf(api.CodeUnavailable, "replace engine: %v", err)
	}
	return nil
}

// StopAll ends everything and lets nothing new be started.
func (h *host) stopAll(ctx context.Context) error {
	failed := h.control.StopAll(ctx, stopAllPatience)
	if failed == nil {
		failed = h.endAllRemains(ctx)
	}
	if failed != nil {
		h.control.Reopen()
		return api.Errorf(api.CodeConflict, "end all sessions and processes: %v", failed)
	}
	return nil
}

// watch serves events.watch.
func (h *host) watch(ctx context.Context, in api.WatchInput, send func(api.Event) error) error {
	owner, agent, unsaved := server.CallerOf(ctx).Owner, server.CallerOf(ctx).Agent(), h.unsaved()
	if tell := send; agent { // what others ask the person is not for it
		send = func(e api.Event) error {
			if e.Type == api.EventRequest {
				return nil
			}
			return tell(e)
		}
	}
	return h.control.Watch(ctx, owner, in.Lasting, func(snapshot api.Event) []api.Event {
		info := h.info()
		snapshot.Info = &info
		snapshot.Layout, snapshot.Revision = h.layouts.Now()
		first := []api.Event{snapshot}
		for _, r := range h.arbiter.Requests() {
			first = append(first, api.Event{Type: api.EventRequest, Request: &r})
		}
		if unsaved != "" {
			first = append(first, api.Event{Type: api.EventNotice, Notice: unsaved})
		}
		if !agent { // problems wait for the person
			for _, text := range h.problems {
				first = append(first, api.Event{Type: api.EventNotice, Notice: text})
			}
			h.problems = nil
		}
		return first
	}, send)
}
