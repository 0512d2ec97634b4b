package engine

import (
	"context"
	"errors"
	"os"
	"time"

	"tandem/engine/api"
)

// stopAllPatience bounds how long engine.stop waits for everything to end.
const stopAllPatience = 15 * time.Second

// mux serves the operation table.
func (h *host) mux() *api.Mux {
	m := api.NewMux()
	api.Handle(m, api.EngineInfo, h.engineInfo)
	api.Handle(m, api.EngineStop, h.engineStop)
	api.Handle(m, api.SessionStart, h.sessionStart)
	api.Handle(m, api.SessionList, h.sessionList)
	api.Handle(m, api.SessionGet, h.sessionGet)
	api.Handle(m, api.SessionWrite, h.sessionWrite)
	api.Handle(m, api.SessionRead, h.sessionRead)
	api.Handle(m, api.SessionScreen, h.sessionScreen)
	api.Handle(m, api.SessionResize, h.sessionResize)
	api.Handle(m, api.SessionRename, h.sessionRename)
	api.Handle(m, api.SessionKill, h.sessionKill)
	api.Handle(m, api.ProcessRemove, h.processRemove)
	m.HandleWatch(h.watch)
	m.HandleAttach(h.attach)
	return m
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
		Running:   h.control.running(),
	}
}

func (h *host) engineInfo(ctx context.Context, _ api.Empty) (api.Info, error) {
	return ask(ctx, h.control, h.info)
}

// engineStop answers when nothing can fail any more, and ends the engine
// behind the answer.
func (h *host) engineStop(ctx context.Context, in api.EngineStopInput) (api.Empty, error) {
	h.log.Info("request", "event", "engine stop", "all", in.All, "replace", in.Replace, "by", api.CallerOf(ctx).Name)
	client, err := h.link.get(ctx)
	if err != nil {
		return api.Empty{}, err
	}
	switch {
	case in.All && in.Replace != "":
		return api.Empty{}, api.Errorf(api.CodeInvalid, "stop engine: all and replace exclude each other")
	case in.Replace != "":
		return api.Empty{}, replaceBy(ctx, client, in.Replace)
	case in.All:
		if err := h.stopAll(ctx); err != nil {
			return api.Empty{}, err
		}
	}
	if err := client.Pause(ctx); err != nil {
		h.control.box.post(func() { h.control.closing = false })
		return api.Empty{}, api.Errorf(api.CodeUnavailable, "stop engine: %v", err)
	}
	h.stop()
	return api.Empty{}, nil
}

// replaceBy hands the keeper another executable; it then ends this engine.
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
	if err := client.Replace(ctx, f); err != nil {
		return api.Errorf(api.CodeUnavailable, "replace engine: %v", err)
	}
	return nil
}

// stopAll ends everything and lets nothing new be started.
func (h *host) stopAll(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stopAllPatience)
	defer cancel()
	replies, err := ask(ctx, h.control, h.control.stopAll)
	if err != nil {
		return err
	}
	var failed error
	for _, reply := range replies {
		if _, err := await(ctx, h.control, reply); err != nil && !errors.Is(err, api.CodeEnded) {
			failed = errors.Join(failed, err)
		}
	}
	if failed != nil {
		h.control.box.post(func() { h.control.closing = false })
		return api.Errorf(api.CodeConflict, "end all sessions and processes: %v", failed)
	}
	return nil
}

// stopAll asks everything to end; the answers come on the channels.
func (c *control) stopAll() []<-chan outcome {
	c.closing = true
	var replies []<-chan outcome
	for id, p := range c.procs {
		if !p.state().Ended() {
			reply := make(chan outcome, 1)
			c.handle(id, event{kind: evStop, reply: reply})
			replies = append(replies, reply)
		}
	}
	return replies
}

// await waits for the answer to a request.
func await(ctx context.Context, c *control, reply <-chan outcome) (api.Process, error) {
	select {
	case o := <-reply:
		return o.process, o.err
	case <-ctx.Done():
		return api.Process{}, api.Errorf(api.CodeUnavailable, "wait for the answer: %v", ctx.Err())
	case <-c.done:
		return api.Process{}, errEnding()
	}
}

// watch serves events.watch.
func (h *host) watch(ctx context.Context, send func(api.Event) error) error {
	c := h.control
	s, err := ask(ctx, c, func() *subscriber {
		info := h.info()
		s := c.hub.subscribe(api.Event{Type: api.EventSnapshot, Info: &info, Processes: c.listed()})
		for _, text := range h.problems {
			c.hub.publish(api.Event{Type: api.EventNotice, Notice: text})
		}
		h.problems = nil
		return s
	})
	if err != nil {
		return err
	}
	defer c.box.post(func() { c.hub.drop(s) })
	for {
		select {
		case e, ok := <-s.events:
			if !ok {
				return api.Errorf(api.CodeUnavailable, "watch events: the stream was cut").WithHint("watch again")
			}
			if err := send(e); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
