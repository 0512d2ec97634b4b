package agents

import "time"

// A driver uses the tools of one server like an agent. Each method makes the calls of a competent
// agent, and derives each call from the answer to the last one.
type driver interface {
	// run runs a command to its end.
	run(command string) reply
	// runFor runs a command for up to wait. If it has not exited by then, the handle refers to
	// it.
	runFor(command string, wait time.Duration) (handle, reply)
	// awaitEnd waits until a command has exited.
	awaitEnd(p handle) reply
	// runWithTimeout runs a command that the server kills after timeout.
	runWithTimeout(command string, timeout time.Duration) reply

	// openTerminal starts a program in a terminal and waits for its prompt. An empty program
	// starts a shell.
	openTerminal(program string) handle
	// typeLine types a line and returns the output up to the next prompt, a question or the end.
	typeLine(p handle, text string) reply
	// pressKeys types keys into a full-screen program.
	pressKeys(p handle, text string, keys ...string)
	// awaitScreen waits until a full-screen program shows a match, unless the last answer has
	// one.
	awaitScreen(p handle, pattern string)
	// awaitExit waits until a program in a terminal exits.
	awaitExit(p handle)
	// floodTerminal types a line with endless output, and interrupts it.
	floodTerminal(p handle, text string)

	// startService starts a program in the background. up reports whether it listens.
	startService(command string, port int) (p handle, up bool)
	// startBackground starts a program in the background.
	startBackground(command string) handle
	// awaitOutput waits until a program in the background has printed a match.
	awaitOutput(p handle, pattern string) string
	// readNew returns a background program's output since the last read.
	readNew(p handle) string
	// grepOutput returns the matching lines of a program's whole output.
	grepOutput(p handle, command, pattern string) string
	stop(p handle)

	readFile(path string, from, lines int) string
	editFile(path, old, text string)
	writeFile(path, text string)
	grepFiles(pattern, glob string) string

	cost() tally
	end()
}

// A handle refers to a program started by the agent.
type handle struct{ *handleState }

type handleState struct {
	id         string
	atPrompt   bool // it takes a line: a shell at its prompt, or a program with a command prompt
	repl       bool
	exited     bool
	lastAnswer string // the last answer about it
	output     string // all output read
	shown      int    // number of bytes of output already returned by takeUnread
}

// takeUnread returns the output read since its last call.
func (p handle) takeUnread() string {
	text := p.output[p.shown:]
	p.shown = len(p.output)
	return text
}

// A reply is the result of a command or a line.
type reply struct {
	text string
	code int  // -1 if unknown
	asks bool // the program waits for input
}

// keyBytes are the bytes sent by keys, for tools that take bytes.
var keyBytes = map[string]string{"esc": "\x1b", "enter": "\r", "ctrl+c": "\x03", "ctrl+x": "\x18"}
