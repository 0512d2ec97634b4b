package agents

import "time"

// hands are what an agent does with the tools of a server. Each method makes
// the calls that a competent agent would make, and takes the next one from what
// the last one answered.
type hands interface {
	// run runs a command that ends by itself.
	run(command string) reply
	// first runs a command for a while; if it is not over then, the place is
	// where it goes on.
	first(command string, wait time.Duration) (place, reply)
	// rest waits until a command has ended.
	rest(p place) reply
	// limit runs a command that is to be killed after a while.
	limit(command string, most time.Duration) reply

	// open starts a program in a terminal, or a shell, up to its prompt.
	open(program string) place
	// line types a line, and gives what comes of it: up to the next prompt, a
	// question or the end.
	line(p place, text string) reply
	// press types keys of a full-screen program.
	press(p place, text string, keys ...string)
	// shows waits until a full-screen program shows a match, unless the last
	// answer has it.
	shows(p place, pattern string)
	// gone waits for the end of a program in a terminal.
	gone(p place)
	// flood types a line that does not end, and interrupts it.
	flood(p place, text string)

	// serve starts a program in the background; up reports whether it listens.
	serve(command string, port int) (p place, up bool)
	// begin starts a program in the background.
	begin(command string) place
	// await waits until a program in the background has printed a match.
	await(p place, pattern string) string
	// news is what a program in the background has printed since the last look.
	news(p place) string
	// hits are the lines of a program's whole output that match.
	hits(p place, command, pattern string) string
	stop(p place)

	read(path string, from, lines int) string
	edit(path, old, text string)
	write(path, text string)
	grep(pattern, glob string) string

	cost() tally
	end()
}

// A place is where something runs.
type place struct{ *spot }

type spot struct {
	id    string
	takes bool // it takes a line: a shell at its prompt, or a program that reads commands
	repl  bool
	over  bool
	last  string // the last answer about it
	seen  string // what was read of it
	told  int    // how much of that the agent has looked at
}

// unlooked is what was read of it and not looked at.
func (p place) unlooked() string {
	text := p.seen[p.told:]
	p.told = len(p.seen)
	return text
}

// A reply is what came of a command or a line.
type reply struct {
	text string
	code int  // -1 if it is not known
	asks bool // the program waits for input
}

// keyBytes are what keys send, for tools that take bytes.
var keyBytes = map[string]string{"esc": "\x1b", "enter": "\r", "ctrl+c": "\x03", "ctrl+x": "\x18"}
