package tmux

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"tandem/ui/cli/tmux/server"
)

// waitFor implements wait-for: calls wait for each other on channels of the server.
func (c scriptCommands) waitFor(cmd *command, _ server.Target) error {
	name := cmd.args[0]
	if c.state.Waits == nil {
		c.state.Waits = map[string]*server.Wait{}
	}
	w := c.state.Waits[name]
	if w == nil {
		w = &server.Wait{}
		c.state.Waits[name] = w
	}
	switch {
	case cmd.has('S'):
		w.Woken = len(w.Waiting) == 0
		for _, address := range w.Waiting {
			wakeWaiter(address)
		}
		w.Waiting = nil
	case cmd.has('U'):
		if !w.Locked {
			return fmt.Errorf("channel %s not locked", name)
		}
		// The lock passes to the first waiting call still alive; killed ones are skipped.
		w.Locked = false
		for len(w.Lockers) > 0 && !w.Locked {
			w.Locked = wakeWaiter(w.Lockers[0])
			w.Lockers = w.Lockers[1:]
		}
	case cmd.has('L') && w.Locked:
		return c.awaitWake(&w.Lockers)
	case cmd.has('L'):
		w.Locked = true
	case w.Woken:
		w.Woken = false
	default:
		return c.awaitWake(&w.Waiting)
	}
	if !w.Woken && !w.Locked && w.Waiting == nil {
		delete(c.state.Waits, name)
	}
	return nil
}

// wakeWaiter wakes a waiting call and reports whether it still existed.
func wakeWaiter(address string) bool {
	conn, err := net.Dial("unixgram", address)
	if err != nil {
		return false
	}
	defer conn.Close()
	_, err = conn.Write([]byte{1})
	return err == nil
}

// awaitWake appends this call to queue and returns when another call wakes it.
func (c scriptCommands) awaitWake(queue *[]string) error {
	dir, err := os.MkdirTemp("", "tandem-wait")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	address := filepath.Join(dir, "s")
	conn, err := net.ListenPacket("unixgram", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	// Listen before queueing: a waker may come as soon as the server is unlocked.
	*queue = append(*queue, address)
	return c.runUnlocked(func() error {
		stop := context.AfterFunc(c.ctx, func() { conn.Close() })
		defer stop()
		_, _, err := conn.ReadFrom(make([]byte, 1))
		return errors.Join(err, c.ctx.Err())
	})
}
