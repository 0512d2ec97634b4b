package keeper

import (
	"errors"
	"fmt"
	"path/filepath"
	"sort"
	"strings"
	"time"
)

// A child is one entry of the keeper's table.
type child struct {
	Child
	dir       string
	logs      Logs
	master    int  // PTY master, or -1
	adopted   bool // somebody else's child, watched through pidfd
	pidfd     int  // of an adopted child, else -1
	transient bool // as its Spec says

	unwritten *exitFile // how a transient child ended, which only the engine was told
}

// start answers a request to start a child: what may wait for a disk is done
// beside the loop, the fork on it.
func (k *keeper) start(s *session, id uint64, spec *Spec) {
	if err := k.startable(spec); err != nil {
		s.reply(id, err)
		return
	}
	k.starting[spec.ID] = struct{}{}
	go func() {
		l, master, err := prepare(*spec)
		done := func() { k.fork(s, id, spec, l, master, err) }
		if !k.do(done) && err == nil {
			l.close()
			closeFD(master)
		}
	}()
}

func (k *keeper) startable(spec *Spec) error {
	if spec == nil {
		return errors.New("start: no spec given")
	}
	err := k.vacant(spec.ID)
	if err == nil {
		err = k.room(spec)
	}
	if err != nil {
		return fmt.Errorf("start %q: %w", spec.ID, err)
	}
	return nil
}

// vacant reports whether a child can get this id.
func (k *keeper) vacant(id string) error {
	_, starting := k.starting[id]
	if c := k.children[id]; starting || c != nil && c.Exit == nil {
		return errors.New("a child with this id has not ended")
	}
	return nil
}

// fork makes the process and its entry in one step of the loop.
func (k *keeper) fork(s *session, id uint64, spec *Spec, l *launch, master int, err error) {
	delete(k.starting, spec.ID)
	defer k.finishIfIdle()
	if err != nil {
		s.reply(id, err)
		return
	}
	var pid int
	switch {
	case k.finished:
		err = fmt.Errorf("start %q: the keeper is about to end", spec.ID)
	case s != k.engine.session:
		// Nobody would know of it: the next engine may have listed the children
		// already.
		err = fmt.Errorf("start %q: the engine that asked is gone", spec.ID)
	default:
		if err = k.room(spec); err == nil {
			pid, err = l.fork()
		}
	}
	l.close()
	if err != nil {
		closeFD(master)
		s.reply(id, err)
		return
	}
	// Not reaped yet, so its status is there even if it has ended.
	stat, _ := readStat(pid)
	c := &child{
		Child:     Child{ID: spec.ID, PID: pid, StartTime: stat.startTime, BootID: k.bootID, TTY: spec.TTY},
		dir:       spec.Dir,
		logs:      Logs{[]string{spec.Stdout, spec.Stderr}, spec.LogLimit},
		master:    master,
		pidfd:     -1,
		transient: spec.Transient,
	}
	k.insert(c)
	k.byPID[pid] = c
	k.replyWithMaster(s, message{Op: opReply, ID: id, Child: &c.Child}, c)
}

// insert puts c into the table, in place of an ended child of the same id.
func (k *keeper) insert(c *child) {
	if old := k.children[c.ID]; old != nil {
		closeFD(old.master)
	}
	k.children[c.ID] = c
}

// replyWithMaster sends a duplicate of c's PTY master along, if it has one.
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

// writeAfter is how long an engine that is connected may take to write down how a
// transient child ended, and to have it forgotten.
const writeAfter = 5 * time.Second

// ended records how a living child ended: first on disk, then for the engine. Of a
// transient one the engine writes that down itself before it has it forgotten, so
// the file, which costs more than a short command does, is made only if it does not.
func (k *keeper) ended(c *child, e Exit) {
	k.unlist(c)
	closeFD(c.pidfd)
	c.pidfd = -1
	file := &exitFile{Schema: exitSchema, Identity: c.identity(), Exit: e, ExitedAt: time.Now()}
	if !c.transient || k.engine.session == nil {
		k.write(c, file, func(err error) { k.recorded(c, e, err) })
		return
	}
	c.unwritten = file
	k.recorded(c, e, nil)
	k.after(writeAfter, func() { k.writeLate(c) })
}

// writeLate writes how a child ended, unless that was done or nobody needs it.
func (k *keeper) writeLate(c *child) {
	if file := c.unwritten; file != nil && k.children[c.ID] == c {
		c.unwritten = nil
		k.write(c, file, func(err error) { k.logExit(c, file.Exit, err) })
	}
}

// writeAllLate is writeLate for all: the engine is gone, or the keeper goes.
func (k *keeper) writeAllLate() {
	for _, c := range k.children {
		k.writeLate(c)
	}
}

// write puts exit.json into a child's folder beside the loop, and calls then on it.
func (k *keeper) write(c *child, file *exitFile, then func(error)) {
	dir, hurry := c.dir, !c.transient
	k.recording.Add(1)
	go func() {
		defer k.recording.Done()
		k.writers <- struct{}{}
		err := retryDescriptor(func() error { return writeExit(dir, *file, hurry) })
		<-k.writers
		k.do(func() { then(err) })
	}()
}

// unlist takes c off the table of living processes, where another one may have
// its pid by now.
func (k *keeper) unlist(c *child) {
	if k.byPID[c.PID] == c {
		delete(k.byPID, c.PID)
	}
}

// recorded tells the engine of an exit, also of one that no disk would take.
func (k *keeper) recorded(c *child, e Exit, err error) {
	k.logExit(c, e, err)
	c.Exit = &e
	if s := k.engine.session; s != nil {
		s.send(message{Op: opExit, Child: &c.Child})
	}
	k.finishIfIdle()
}

// logExit logs an exit that no disk would take.
func (k *keeper) logExit(c *child, e Exit, err error) {
	if err != nil {
		k.engine.logf("keeper: %s of %s: %v", e, c.ID, err)
	}
}

// list gives all children, in the order of their ids.
func (k *keeper) list() []Child {
	all := make([]Child, 0, len(k.children))
	for _, c := range k.children {
		all = append(all, c.Child)
	}
	sort.Slice(all, func(i, j int) bool { return strings.Compare(all[i].ID, all[j].ID) < 0 })
	return all
}

// master answers with a duplicate of a child's PTY master.
func (k *keeper) master(s *session, id uint64, childID string) {
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

// forget drops an ended child.
func (k *keeper) forget(childID string) error {
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

// adopt takes over a child of an earlier keeper. The process counts only if it
// has the start time that it is said to have. It takes master over if it returns
// nil.
func (k *keeper) adopt(given *Child, dir string, logs Logs, fds []int) error {
	if given == nil || given.ID == "" || given.PID <= 0 {
		return errors.New("adopt: no child given")
	}
	c, err := k.adoptable(*given, dir, fds)
	if err != nil {
		return fmt.Errorf("adopt %q: %w", given.ID, err)
	}
	if c == nil {
		closeFDs(fds)
		return nil
	}
	c.logs = logs
	if c.pidfd < 0 {
		k.insert(c)
		k.endedBefore(c)
		return nil
	}
	if err := k.watch.add(c.pidfd, func() { k.adoptedEnded(c, 0) }); err != nil {
		closeFD(c.pidfd)
		return fmt.Errorf("adopt %q: %w", c.ID, err)
	}
	k.insert(c)
	k.byPID[c.PID] = c
	return nil
}

// adoptable makes the entry; nil says that the child is here already. Its pidfd
// is -1 if the process is gone.
func (k *keeper) adoptable(given Child, dir string, fds []int) (*child, error) {
	if old := k.children[given.ID]; old != nil && old.identity() == given.identity() {
		return nil, nil
	}
	if err := k.vacant(given.ID); err != nil {
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
	given.Exit = nil
	c := &child{Child: given, dir: dir, master: master, adopted: true, pidfd: -1}
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

// endedBefore reports the exit of a child that was gone when it was adopted.
func (k *keeper) endedBefore(c *child) {
	if e, ok := readExit(c.dir, c.identity()); ok {
		k.recorded(c, e, nil)
		return
	}
	k.ended(c, Exit{Unknown: true})
}

// adoptedEnded finds out how an adopted child ended. Between its end and the
// moment when its parent has collected it there may be nobody to ask.
func (k *keeper) adoptedEnded(c *child, tries int) {
	const pause, most = 10 * time.Millisecond, 100
	e, ok := exitOfOther(c.pidfd, c.PID, c.StartTime)
	if !ok && tries < most {
		k.after(pause, func() { k.adoptedEnded(c, tries+1) })
		return
	}
	k.ended(c, e)
}
