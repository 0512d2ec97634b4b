package keeper

import (
	"errors"
	"fmt"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"tandem/persist/procstat"
)

// A child is an entry of the keeper's table.
type child struct {
	Child
	dir       string
	logs      Logs
	master    int  // PTY master, or -1
	adopted   bool // child of another process, watched through pidfd
	pidfd     int  // of an adopted child, otherwise -1
	transient bool // copied from Spec

	unwritten *exitFile // exit of a transient child not yet written to disk
}

// startChild handles a request to start a child. Preparing it may wait for a disk, so that runs in its
// own goroutine; only the fork runs on the loop.
func (k *keeper) startChild(s *session, id uint64, spec *Spec) {
	if err := k.checkStart(spec); err != nil {
		s.reply(id, err)
		return
	}
	k.starting[spec.ID] = struct{}{}
	go func() {
		l, master, err := prepare(*spec)
		done := func() { k.forkChild(s, id, spec, l, master, err) }
		// The keeper is exiting: nobody else would close these.
		if !k.runOnLoop(done) && err == nil {
			l.close()
			closeFD(master)
		}
	}()
}

func (k *keeper) checkStart(spec *Spec) error {
	if spec == nil {
		return errors.New("start: no spec given")
	}
	err := k.checkFree(spec.ID)
	if err == nil {
		err = k.checkDescriptors(spec)
	}
	if err != nil {
		return fmt.Errorf("start %q: %w", spec.ID, err)
	}
	return nil
}

// checkFree returns an error if a living or starting child has this id.
func (k *keeper) checkFree(id string) error {
	_, starting := k.starting[id]
	if c := k.children[id]; starting || c != nil && c.Exit == nil {
		return errors.New("a child with this id has not ended")
	}
	return nil
}

// forkChild creates the process and its table entry in one step of the loop.
func (k *keeper) forkChild(s *session, id uint64, spec *Spec, l *launch, master int, err error) {
	delete(k.starting, spec.ID)
	defer k.finishIfIdle()
	if err != nil {
		s.reply(id, err)
		return
	}
	var pid int
	switch {
	// The keeper could not report the exit of this child any more.
	case k.finished:
		err = fmt.Errorf("start %q: the keeper is about to exit", spec.ID)
	case s != k.engine.session:
		// Nobody would learn of this child: the next engine may have listed the children already.
		err = fmt.Errorf("start %q: the engine that asked has exited", spec.ID)
	default:
		// Check again: other children may have started since.
		if err = k.checkDescriptors(spec); err == nil {
			pid, err = l.fork()
		}
	}
	l.close()
	if err != nil {
		closeFD(master)
		s.reply(id, err)
		return
	}
	// The child has not been reaped, so its stat file exists even if it has exited.
	stat, _ := procstat.Read(pid)
	c := &child{
		Child:     Child{ID: spec.ID, PID: pid, StartTime: stat.StartTime, BootID: k.bootID, TTY: spec.TTY},
		dir:       spec.Dir,
		logs:      Logs{[]string{spec.Stdout, spec.Stderr}, spec.LogLimit},
		master:    master,
		pidfd:     -1,
		transient: spec.Transient,
	}
	k.insertChild(c)
	k.byPID[pid] = c
	k.replyWithMaster(s, message{Op: opReply, ID: id, Child: &c.Child}, c)
}

// insertChild adds c to the table, replacing an exited child with the same id.
func (k *keeper) insertChild(c *child) {
	if old := k.children[c.ID]; old != nil {
		closeFD(old.master)
	}
	k.children[c.ID] = c
}

// replyWithMaster sends m with a duplicate of c's PTY master, if it has one.
func (k *keeper) replyWithMaster(s *session, m message, c *child) {
	if c.master < 0 {
		s.send(m)
		return
	}
	fd, err := dupFD(c.master)
	if err != nil {
		s.reply(m.ID, fmt.Errorf("duplicate terminal of %q: %w", c.ID, err))
		return
	}
	s.send(m, fd)
}

// writeAfter is how long a connected engine may take to record the exit of a transient child and
// forget the child.
const writeAfter = 5 * time.Second

// recordExit records the exit of a child: first on disk, then for the engine. The engine records the
// exit of a transient child itself, so exit.json, which costs more than a short command, is
// written only if the engine does not forget the child in time.
func (k *keeper) recordExit(c *child, e Exit) {
	k.removePID(c)
	closeFD(c.pidfd)
	c.pidfd = -1
	file := &exitFile{Schema: exitSchema, Identity: c.identity(), Exit: e, ExitedAt: time.Now()}
	// Without an engine, nobody else would record the exit.
	if !c.transient || k.engine.session == nil {
		k.writeExitFile(c, file, func(err error) { k.reportExit(c, e, err) })
		return
	}
	c.unwritten = file
	k.reportExit(c, e, nil)
	k.runLater(writeAfter, func() { k.writeLate(c) })
}

// writeLate writes exit.json for a transient child, unless it was written or the child was
// forgotten.
func (k *keeper) writeLate(c *child) {
	if file := c.unwritten; file != nil && k.children[c.ID] == c {
		c.unwritten = nil
		k.writeExitFile(c, file, func(err error) { k.logExit(c, file.Exit, err) })
	}
}

// writeAllLate calls writeLate for all children: the engine or the keeper is about to exit.
func (k *keeper) writeAllLate() {
	for _, c := range k.children {
		k.writeLate(c)
	}
}

// writeExitFile writes exit.json in its own goroutine, then calls done on the loop with the result.
func (k *keeper) writeExitFile(c *child, file *exitFile, done func(error)) {
	dir, writeback := c.dir, !c.transient
	k.recording.Add(1)
	go func() {
		defer k.recording.Done()
		// Limit the number of concurrent writes, and so of descriptors.
		k.writers <- struct{}{}
		err := retryDescriptor(func() error { return writeExit(dir, *file, writeback) })
		<-k.writers
		k.runOnLoop(func() { done(err) })
	}()
}

// removePID removes c from the table of living processes, unless a new child has its pid already.
func (k *keeper) removePID(c *child) {
	if k.byPID[c.PID] == c {
		delete(k.byPID, c.PID)
	}
}

// reportExit sends an exit to the engine, even if exit.json could not be written.
func (k *keeper) reportExit(c *child, e Exit, err error) {
	k.logExit(c, e, err)
	c.Exit = &e
	if s := k.engine.session; s != nil {
		s.send(message{Op: opExit, Child: &c.Child})
	}
	k.finishIfIdle()
}

func (k *keeper) logExit(c *child, e Exit, err error) {
	if err != nil {
		k.engine.logf("keeper: %s of %s: %v", e, c.ID, err)
	}
}

// listChildren returns all children, sorted by id.
func (k *keeper) listChildren() []Child {
	all := make([]Child, 0, len(k.children))
	for _, c := range k.children {
		all = append(all, c.Child)
	}
	sort.Slice(all, func(i, j int) bool { return strings.Compare(all[i].ID, all[j].ID) < 0 })
	return all
}

// sendMaster replies with a duplicate of a child's PTY master.
func (k *keeper) sendMaster(s *session, id uint64, childID string) {
	c := k.children[childID]
	switch {
	case c == nil:
		s.reply(id, fmt.Errorf("get terminal of %q: no such child", childID))
	case c.master < 0:
		s.reply(id, fmt.Errorf("get terminal of %q: it has none", childID))
	default:
		k.replyWithMaster(s, message{Op: opReply, ID: id}, c)
	}
}

// forgetChild removes an exited child.
func (k *keeper) forgetChild(childID string) error {
	c := k.children[childID]
	switch {
	case c == nil:
		return fmt.Errorf("forget %q: no such child", childID)
	case c.Exit == nil:
		return fmt.Errorf("forget %q: it has not ended", childID)
	}
	closeFD(c.master)
	delete(k.children, childID)
	return nil
}

// adoptChild takes over a child of an earlier keeper, if the process has the expected start time. If
// adopt returns nil, it owns fds.
func (k *keeper) adoptChild(given *Child, dir string, logs Logs, fds []int) error {
	if given == nil || given.ID == "" || given.PID <= 0 {
		return errors.New("adopt: no child given")
	}
	c, err := k.newAdopted(*given, dir, fds)
	if err != nil {
		return fmt.Errorf("adopt %q: %w", given.ID, err)
	}
	if c == nil {
		closeFDs(fds)
		return nil
	}
	c.logs = logs
	if c.pidfd < 0 {
		k.insertChild(c)
		k.reportEarlierExit(c)
		return nil
	}
	// Watch before inserting: a child that cannot be watched is not adopted.
	if err := k.watch.add(c.pidfd, func() { k.handleAdoptedExit(c, 0) }); err != nil {
		closeFD(c.pidfd)
		return fmt.Errorf("adopt %q: %w", c.ID, err)
	}
	k.insertChild(c)
	k.byPID[c.PID] = c
	return nil
}

// newAdopted returns a new entry, or nil if the keeper has this child already. The entry's pidfd is
// -1 if the process has exited.
func (k *keeper) newAdopted(given Child, dir string, fds []int) (*child, error) {
	if old := k.children[given.ID]; old != nil && old.identity() == given.identity() {
		return nil, nil
	}
	if err := k.checkFree(given.ID); err != nil {
		return nil, err
	}
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("folder %q is not an absolute path", dir)
	}
	master := -1
	if len(fds) > 0 {
		master = fds[0]
		if err := checkMaster(master); err != nil {
			return nil, err
		}
	}
	// The engine's view may be stale.
	given.Exit = nil
	c := &child{Child: given, dir: dir, master: master, adopted: true, pidfd: -1}
	// No process survives a reboot.
	if given.BootID != k.bootID {
		return c, nil
	}
	pidfd, err := openProcess(given.PID, given.StartTime)
	if err != nil && !errors.Is(err, errGone) {
		return nil, err
	}
	c.pidfd = pidfd
	return c, nil
}

// reportEarlierExit reports the exit of a child that exited before it was adopted.
func (k *keeper) reportEarlierExit(c *child) {
	if e, ok := readExit(c.dir, c.identity()); ok {
		k.reportExit(c, e, nil)
		return
	}
	k.recordExit(c, Exit{Unknown: true})
}

// handleAdoptedExit determines how an adopted child exited. The status may be unavailable until its
// parent has reaped it, so handleAdoptedExit retries for up to a second.
func (k *keeper) handleAdoptedExit(c *child, tries int) {
	const retryInterval, maxTries = 10 * time.Millisecond, 100
	e, ok := exitOfOther(c.pidfd, c.PID, c.StartTime)
	if !ok && tries < maxTries {
		k.runLater(retryInterval, func() { k.handleAdoptedExit(c, tries+1) })
		return
	}
	k.recordExit(c, e)
}
