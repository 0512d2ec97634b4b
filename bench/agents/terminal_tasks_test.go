package agents

// terminalTasks answer interactive programs, and drive full-screen ones.
var terminalTasks = []task{
	{name: "rm -i", files: map[string]string{"old.txt": "x", "keep.txt": "x"}, do: func(w *taskRun) {
		p := w.openTerminal("")
		wantMatch(w.typeLine(p, "rm -i old.txt").text, `old\.txt`)
		w.typeLine(p, "y")
		wantMatch(w.runShell("ls"), "^keep.txt\n$")
	}},
	{name: "three y/n questions", quick: true, files: map[string]string{"install.sh": `#!/bin/bash
for part in core docs telemetry; do read -p "Install $part? [y/n] " a; echo "$part=$a" >> answers; done
echo Installation complete.
`}, do: func(w *taskRun) {
		p := w.openTerminal("")
		wantMatch(w.typeLine(p, "./install.sh").text, `Install core\?`)
		wantMatch(w.typeLine(p, "y").text, `Install docs\?`)
		wantMatch(w.typeLine(p, "y").text, `Install telemetry\?`)
		wantMatch(w.typeLine(p, "n").text, "complete")
		wantText(w.fileText("answers"), "core=y\ndocs=y\ntelemetry=n\n")
	}},
	{name: "a password, wrong once (sudo)", quick: true, files: map[string]string{"sudo.sh": `#!/bin/bash
for try in 1 2 3; do
	read -s -p "[sudo] password for agent: " word < /dev/tty; echo
	[ "$word" = opensesame ] && { echo done > proof; echo "root work done"; exit 0; }
	echo "Sorry, try again."
done
exit 1
`}, do: func(w *taskRun) {
		p := w.openTerminal("")
		wantMatch(w.typeLine(p, "./sudo.sh make install").text, "password for agent")
		wantMatch(w.typeLine(p, "opensesami").text, "(?s)try again.*password for agent")
		wantMatch(w.typeLine(p, "opensesame").text, "root work done")
		wantText(w.fileText("proof"), "done\n")
	}},
	{name: "an unknown host key, then a password (ssh)", files: map[string]string{"ssh.sh": `#!/bin/bash
echo "The authenticity of host 'build (10.0.0.9)' can't be established."
echo "ED25519 key fingerprint is SHA256:q3Yx0cSgdrYv6k8mU2qF1WcJ8l2mJpHhZ9eU4b7nT1A."
read -p "Are you sure you want to continue connecting (yes/no/[fingerprint])? " a < /dev/tty
[ "$a" = yes ] || { echo "Host key verification failed."; exit 255; }
read -s -p "agent@build's password: " word < /dev/tty; echo
[ "$word" = hunter2 ] && echo "Linux build 6.1" || { echo "Permission denied."; exit 255; }
`}, do: func(w *taskRun) {
		p := w.openTerminal("")
		wantMatch(w.typeLine(p, "./ssh.sh uname -a").text, "continue connecting")
		wantMatch(w.typeLine(p, "yes").text, "password")
		wantMatch(w.typeLine(p, "hunter2").text, "Linux build")
	}},
	{name: "npm init", needs: []string{"npm"}, do: func(w *taskRun) {
		p := w.openTerminal("")
		r := w.typeLine(p, "npm init")
		for range 12 {
			switch last := lastLine(r.text); {
			case r.asks && contains(last, "package name"):
				r = w.typeLine(p, "shop")
			case r.asks && contains(last, "description"):
				r = w.typeLine(p, "A shop")
			case contains(r.text, "Is this OK"):
				w.typeLine(p, "yes")
				wantMatch(w.fileText("package.json"), `(?s)"name": "shop".*"description": "A shop"`)
				return
			default:
				r = w.typeLine(p, "")
			}
		}
		giveUp("npm init keeps asking: %s", r.text)
	}},
	{name: "git add -p", needs: []string{"git"}, setup: gitRepo + `seq 40 > list; git add list; git commit -qm list; sed -i 's/^3$/three/; s/^38$/thirty-eight/' list`, do: func(w *taskRun) {
		p := w.openTerminal("")
		wantMatch(w.typeLine(p, "git add -p").text, "three")
		wantMatch(w.typeLine(p, "n").text, "thirty-eight")
		w.typeLine(p, "y")
		wantMatch(w.runShell("git diff --cached"), `\+thirty-eight`)
		if contains(w.runShell("git diff --cached"), "+three") {
			giveUp("both hunks were added")
		}
	}},
	{name: "git rebase -i, two commits squashed in vim", needs: []string{"git", "vim"}, setup: gitRepo + `for n in 1 2 3; do echo $n > f; git add f; git commit -qm "change $n"; done; git config core.editor 'vim -u NONE -N'; git config sequence.editor 'vim -u NONE -N'`, do: func(w *taskRun) {
		p := w.openTerminal("git rebase -i HEAD~2")
		w.awaitScreen(p, "pick .* change 3")
		w.pressKeys(p, ":2s/pick/squash/")
		w.pressKeys(p, "", "enter")
		w.pressKeys(p, ":wq", "enter")
		w.awaitScreen(p, "combination of 2 commits")
		w.pressKeys(p, ":wq", "enter")
		w.awaitExit(p)
		wantMatch(w.runShell("git log --format=%s"), "^change 2\nchange 1\nstart\n$")
	}},
	{name: "an edit in vim", needs: []string{"vim"}, files: map[string]string{"notes.txt": "first\nsecond\n"}, do: func(w *taskRun) {
		p := w.openTerminal("vim -u NONE -N notes.txt")
		w.pressKeys(p, "Gothird", "esc")
		w.pressKeys(p, ":wq", "enter")
		w.awaitExit(p)
		wantText(w.fileText("notes.txt"), "first\nsecond\nthird\n")
	}},
	{name: "a search in less", needs: []string{"less"}, setup: "seq 5000 | sed 's/^4242$/4242 needle/' > long.txt", do: func(w *taskRun) {
		p := w.openTerminal("less long.txt")
		w.pressKeys(p, "/needle", "enter")
		w.awaitScreen(p, "4242 needle")
		w.pressKeys(p, "q")
		w.awaitExit(p)
	}},
	{name: "python", needs: []string{"python3"}, do: func(w *taskRun) {
		p := w.openTerminal("python3 -q")
		w.typeLine(p, "import math")
		wantMatch(w.typeLine(p, "math.factorial(20)").text, "2432902008176640000")
		wantMatch(w.typeLine(p, "1/0").text, "ZeroDivisionError")
		w.typeLine(p, "exit()")
	}},
	{name: "a function in python", needs: []string{"python3"}, do: func(w *taskRun) {
		p := w.openTerminal("python3 -q")
		w.typeLine(p, "def square(n):\n    return n * n\n")
		wantMatch(w.typeLine(p, "square(12)").text, "144")
		w.typeLine(p, "exit()")
	}},
	{name: "node", needs: []string{"node"}, do: func(w *taskRun) {
		p := w.openTerminal("node")
		w.typeLine(p, "const list = [3, 1, 2]")
		wantMatch(w.typeLine(p, "list.sort().join('-')").text, "1-2-3")
		w.typeLine(p, ".exit")
	}},
	{name: "bc", needs: []string{"bc"}, do: func(w *taskRun) {
		p := w.openTerminal("bc -q")
		w.typeLine(p, "scale=5")
		wantMatch(w.typeLine(p, "22/7").text, `3\.14285`)
		w.typeLine(p, "quit")
	}},
	{name: "gdb: a breakpoint and a variable", needs: []string{"gdb", "gcc"}, files: map[string]string{"main.c": "int main(void) {\n\tint total = 0;\n\tfor (int i = 1; i <= 4; i++)\n\t\ttotal += i;\n\treturn total;\n}\n"}, setup: "gcc -g -O0 -o prog main.c", do: func(w *taskRun) {
		p := w.openTerminal("gdb -q ./prog")
		wantMatch(w.typeLine(p, "break 5").text, "Breakpoint 1")
		wantMatch(w.typeLine(p, "run").text, "(?s)Breakpoint 1.*main")
		wantMatch(w.typeLine(p, "print total").text, "= 10")
		if r := w.typeLine(p, "quit"); contains(r.text, "y or n") {
			w.typeLine(p, "y")
		}
	}},
}

// gitRepo creates a git repository with an author for commits.
const gitRepo = "git init -q .; git config user.email agent@example.org; git config user.name agent; git commit -q --allow-empty -m start; "
