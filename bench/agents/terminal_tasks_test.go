package agents

// terminalTasks answer programs that ask, and drive programs with a screen.
var terminalTasks = []task{
	{name: "rm -i", files: map[string]string{"old.txt": "x", "keep.txt": "x"}, do: func(w *work) {
		p := w.open("")
		want(w.line(p, "rm -i old.txt").text, `old\.txt`)
		w.line(p, "y")
		want(w.sh("ls"), "^keep.txt\n$")
	}},
	{name: "three y/n questions", quick: true, files: map[string]string{"install.sh": `#!/bin/bash
for part in core docs telemetry; do read -p "Install $part? [y/n] " a; echo "$part=$a" >> answers; done
echo Installation complete.
`}, do: func(w *work) {
		p := w.open("")
		want(w.line(p, "./install.sh").text, `Install core\?`)
		want(w.line(p, "y").text, `Install docs\?`)
		want(w.line(p, "y").text, `Install telemetry\?`)
		want(w.line(p, "n").text, "complete")
		wantText(w.file("answers"), "core=y\ndocs=y\ntelemetry=n\n")
	}},
	{name: "a password, wrong once (sudo)", quick: true, files: map[string]string{"sudo.sh": `#!/bin/bash
for try in 1 2 3; do
	read -s -p "[sudo] password for agent: " word < /dev/tty; echo
	[ "$word" = opensesame ] && { echo done > proof; echo "root work done"; exit 0; }
	echo "Sorry, try again."
done
exit 1
`}, do: func(w *work) {
		p := w.open("")
		want(w.line(p, "./sudo.sh make install").text, "password for agent")
		want(w.line(p, "opensesami").text, "(?s)try again.*password for agent")
		want(w.line(p, "opensesame").text, "root work done")
		wantText(w.file("proof"), "done\n")
	}},
	{name: "an unknown host key, then a password (ssh)", files: map[string]string{"ssh.sh": `#!/bin/bash
echo "The authenticity of host 'build (10.0.0.9)' can't be established."
echo "ED25519 key fingerprint is SHA256:q3Yx0cSgdrYv6k8mU2qF1WcJ8l2mJpHhZ9eU4b7nT1A."
read -p "Are you sure you want to continue connecting (yes/no/[fingerprint])? " a < /dev/tty
[ "$a" = yes ] || { echo "Host key verification failed."; exit 255; }
read -s -p "agent@build's password: " word < /dev/tty; echo
[ "$word" = hunter2 ] && echo "Linux build 6.1" || { echo "Permission denied."; exit 255; }
`}, do: func(w *work) {
		p := w.open("")
		want(w.line(p, "./ssh.sh uname -a").text, "continue connecting")
		want(w.line(p, "yes").text, "password")
		want(w.line(p, "hunter2").text, "Linux build")
	}},
	{name: "npm init", needs: []string{"npm"}, do: func(w *work) {
		p := w.open("")
		r := w.line(p, "npm init")
		for range 12 {
			switch last := lastLine(r.text); {
			case r.asks && has(last, "package name"):
				r = w.line(p, "shop")
			case r.asks && has(last, "description"):
				r = w.line(p, "A shop")
			case has(r.text, "Is this OK"):
				w.line(p, "yes")
				want(w.file("package.json"), `(?s)"name": "shop".*"description": "A shop"`)
				return
			default:
				r = w.line(p, "")
			}
		}
		giveUp("npm init asks on and on: %s", r.text)
	}},
	{name: "git add -p", needs: []string{"git"}, setup: repo + `seq 40 > list; git add list; git commit -qm list; sed -i 's/^3$/three/; s/^38$/thirty-eight/' list`, do: func(w *work) {
		p := w.open("")
		want(w.line(p, "git add -p").text, "three")
		want(w.line(p, "n").text, "thirty-eight")
		w.line(p, "y")
		want(w.sh("git diff --cached"), `\+thirty-eight`)
		if has(w.sh("git diff --cached"), "+three") {
			giveUp("both hunks were added")
		}
	}},
	{name: "git rebase -i, two commits squashed in vim", needs: []string{"git", "vim"}, setup: repo + `for n in 1 2 3; do echo $n > f; git add f; git commit -qm "change $n"; done; git config core.editor 'vim -u NONE -N'; git config sequence.editor 'vim -u NONE -N'`, do: func(w *work) {
		p := w.open("git rebase -i HEAD~2")
		w.shows(p, "pick .* change 3")
		w.press(p, ":2s/pick/squash/")
		w.press(p, "", "enter")
		w.press(p, ":wq", "enter")
		w.shows(p, "combination of 2 commits")
		w.press(p, ":wq", "enter")
		w.gone(p)
		want(w.sh("git log --format=%s"), "^change 2\nchange 1\nstart\n$")
	}},
	{name: "an edit in vim", needs: []string{"vim"}, files: map[string]string{"notes.txt": "first\nsecond\n"}, do: func(w *work) {
		p := w.open("vim -u NONE -N notes.txt")
		w.press(p, "Gothird", "esc")
		w.press(p, ":wq", "enter")
		w.gone(p)
		wantText(w.file("notes.txt"), "first\nsecond\nthird\n")
	}},
	{name: "a search in less", needs: []string{"less"}, setup: "seq 5000 | sed 's/^4242$/4242 needle/' > long.txt", do: func(w *work) {
		p := w.open("less long.txt")
		w.press(p, "/needle", "enter")
		w.shows(p, "4242 needle")
		w.press(p, "q")
		w.gone(p)
	}},
	{name: "python", needs: []string{"python3"}, do: func(w *work) {
		p := w.open("python3 -q")
		w.line(p, "import math")
		want(w.line(p, "math.factorial(20)").text, "2432902008176640000")
		want(w.line(p, "1/0").text, "ZeroDivisionError")
		w.line(p, "exit()")
	}},
	{name: "a function in python", needs: []string{"python3"}, do: func(w *work) {
		p := w.open("python3 -q")
		w.line(p, "def square(n):\n    return n * n\n")
		want(w.line(p, "square(12)").text, "144")
		w.line(p, "exit()")
	}},
	{name: "node", needs: []string{"node"}, do: func(w *work) {
		p := w.open("node")
		w.line(p, "const list = [3, 1, 2]")
		want(w.line(p, "list.sort().join('-')").text, "1-2-3")
		w.line(p, ".exit")
	}},
	{name: "bc", needs: []string{"bc"}, do: func(w *work) {
		p := w.open("bc -q")
		w.line(p, "scale=5")
		want(w.line(p, "22/7").text, `3\.14285`)
		w.line(p, "quit")
	}},
	{name: "gdb: a breakpoint and a variable", needs: []string{"gdb", "gcc"}, files: map[string]string{"main.c": "int main(void) {\n\tint total = 0;\n\tfor (int i = 1; i <= 4; i++)\n\t\ttotal += i;\n\treturn total;\n}\n"}, setup: "gcc -g -O0 -o prog main.c", do: func(w *work) {
		p := w.open("gdb -q ./prog")
		want(w.line(p, "break 5").text, "Breakpoint 1")
		want(w.line(p, "run").text, "(?s)Breakpoint 1.*main")
		want(w.line(p, "print total").text, "= 10")
		if r := w.line(p, "quit"); has(r.text, "y or n") {
			w.line(p, "y")
		}
	}},
}

// repo makes a git repository whose commits have an author.
const repo = "git init -q .; git config user.email agent@example.org; git config user.name agent; git commit -q --allow-empty -m start; "
