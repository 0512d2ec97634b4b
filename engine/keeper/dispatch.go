package keeper

import (
	"errors"
	"fmt"
)

// handle serves one message of a session, on the loop. It owns fds.
func (k *keeper) handle(s *session, m message, fds []int) {
	if m.Op != opAdopt && m.Op != opReplace {
		closeFDs(fds)
		fds = nil
	}
	switch {
	case m.Op == opHello:
		k.hello(s, m.ID)
	case m.Op == opWake:
		k.wake(s, m.ID)
	case s != k.engine.session:
		closeFDs(fds)
		s.reply(m.ID, fmt.Errorf("%s: only for the engine, which says %s first", m.Op, opHello))
	default:
		k.serve(s, m, fds)
	}
}

// serve handles what only the engine may ask.
func (k *keeper) serve(s *session, m message, fds []int) {
	switch m.Op {
	case opReady:
		k.engineReady()
		s.reply(m.ID, nil)
	case opStart:
		k.start(s, m.ID, m.Spec)
	case opList:
		s.send(message{Op: opReply, ID: m.ID, Children: k.list()})
	case opMaster:
		k.master(s, m.ID, m.ChildID)
	case opForget:
		s.reply(m.ID, k.forget(m.ChildID))
	case opAdopt:
		err := k.adopt(m.Child, m.Dir, Logs{m.Logs, m.LogLimit}, fds)
		if err != nil {
			closeFDs(fds)
		}
		s.reply(m.ID, err)
	case opReplace:
		replace := k.replace
		if m.PID != 0 {
			replace = func(fds []int) error { return k.succeed(fds, m.PID) }
		}
		err := replace(fds)
		if err != nil {
			closeFDs(fds)
		}
		s.reply(m.ID, err)
	case opPause:
		k.pause()
		s.reply(m.ID, nil)
	default:
		closeFDs(fds)
		s.reply(m.ID, fmt.Errorf("unknown operation %q", m.Op))
	}
}

// hello announces the session's peer as the engine.
func (k *keeper) hello(s *session, id uint64) {
	if err := k.announce(s); err != nil {
		s.reply(id, fmt.Errorf("announce engine: %w", err))
		return
	}
	s.send(message{Op: opReply, ID: id, PID: ownPID(), Succeeds: true})
}

func (k *keeper) announce(s *session) error {
	e, pid := &k.engine, s.peer.pid
	switch {
	case pid <= 0:
		return errors.New("its pid cannot be seen from here")
	case e.announced != 0 && e.announced != pid:
		return fmt.Errorf("process %d is the engine and lives", e.announced)
	}
	if e.announced == 0 {
		if err := k.recognise(pid, s.peer.pidfd); err != nil {
			return err
		}
		e.killSpare(pid)
	}
	if e.session != nil {
		e.session.cut()
	}
	k.connect(s)
	return nil
}

// gone forgets a session whose connection has ended. That says nothing about the
// process behind it.
func (k *keeper) gone(s *session) {
	e := &k.engine
	if e.session == s {
		k.connect(nil)
	}
	for i, w := range e.waiting {
		if w.session == s {
			e.waiting = append(e.waiting[:i], e.waiting[i+1:]...)
			return
		}
	}
}
