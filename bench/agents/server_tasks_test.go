package agents

import (
	"fmt"
	"strings"
)

// serverTasks run programs in the background, work on files, and involve a second agent.
var serverTasks = []task{
	{name: "a dev server, its port, a request", needs: []string{"python3", "curl"}, files: map[string]string{"index.html": "<h1>hello</h1>\n"}, do: func(w *taskRun) {
		p, up := w.startService(fmt.Sprintf("python3 -m http.server %d --bind 127.0.0.1", w.port), w.port)
		if !up {
			giveUp("the server does not listen")
		}
		wantMatch(w.run(fmt.Sprintf("curl -s 127.0.0.1:%d/", w.port)).text, "hello")
		wantMatch(w.readNew(p), "GET / HTTP")
		w.stop(p)
	}},
	{name: "a dev server that cannot start", needs: []string{"python3"}, files: map[string]string{"app.py": "import sys\nprint('loading')\nsys.stderr.write('ModuleNotFoundError: flask\\n')\nsys.exit(1)\n"}, do: func(w *taskRun) {
		p, up := w.startService("python3 app.py", w.port)
		if up {
			giveUp("the broken server listens")
		}
		wantMatch(w.readNew(p), "ModuleNotFoundError: flask")
	}},
	{name: "a dev server restarted after an edit", needs: []string{"python3", "curl"}, files: map[string]string{"app.py": serverApp}, do: func(w *taskRun) {
		command := fmt.Sprintf("python3 app.py %d", w.port)
		p, _ := w.startService(command, w.port)
		w.editFile("app.py", "version 1", "version 2")
		w.stop(p)
		p, up := w.startService(command, w.port)
		if !up {
			giveUp("the restarted server does not listen")
		}
		wantMatch(w.run(fmt.Sprintf("curl -s 127.0.0.1:%d/", w.port)).text, "version 2")
		w.stop(p)
	}},
	{name: "a worker in the background and its log", files: map[string]string{"worker.sh": "for i in 1 2 3 4 5 6 7 8 9; do echo job $i done; sleep 0.3; done; sleep 60\n"}, do: func(w *taskRun) {
		p := w.startBackground("sh worker.sh")
		w.followOutput(p, "job 3 done", "(?s)job 1 done.*job 3 done")
		w.stop(p)
	}},
	{name: "a log followed: only what is new", files: map[string]string{"ticks.sh": "for i in 1 2 3 4 5 6; do seq -f \"tick $i.%g\" 100; sleep 1; done; sleep 60\n"}, do: func(w *taskRun) {
		p := w.startBackground("sh ticks.sh")
		w.followOutput(p, `tick 2\.100`, `(?s)tick 2\.1\b.*tick 2\.100\b`)
		w.followOutput(p, `tick 4\.100`, `(?s)tick 4\.1\b.*tick 4\.100\b`)
		w.stop(p)
	}},
	{name: "grep, read and edit", quick: true, setup: sources, do: func(w *taskRun) {
		wantMatch(w.grepFiles("func retry", "*.go"), `pkg7/file\.go`)
		wantMatch(w.readFile("pkg7/file.go", 40, 10), "attempts := 3")
		w.editFile("pkg7/file.go", "attempts := 3", "attempts := 5")
		wantMatch(w.fileText("pkg7/file.go"), "attempts := 5")
	}},
	{name: "lines in the middle of a big file", setup: "seq -f 'record %.0f of the year' 200000 > big.log", do: func(w *taskRun) {
		wantMatch(w.readFile("big.log", 150000, 5), "record 150003 of")
	}},
	{name: "a file written and run", do: func(w *taskRun) {
		w.writeFile("hello.sh", "#!/bin/sh\nfor name in \"$@\"; do\n\techo \"Hello, $name!\"\ndone\n")
		wantMatch(w.run("sh hello.sh Ada 'Grace H'").text, "Hello, Ada!\nHello, Grace H!")
	}},
	{name: "a merge conflict", needs: []string{"git"}, setup: gitRepo + `echo one > f; git add f; git commit -qm one; git checkout -qb side; echo side > f; git commit -qam side; git checkout -q -; echo main > f; git commit -qam main`, do: func(w *taskRun) {
		wantMatch(w.run("git merge side").text, "CONFLICT")
		w.readFile("f", 0, 0)
		w.writeFile("f", "main and side\n")
		wantMatch(w.run("git commit -qam merged && git log --oneline | head -1").text, "merged")
		wantText(w.runShell("git log --format=%s | head -1"), "merged\n")
	}},
	{name: "the engine is killed in between", engine: true, files: map[string]string{"job.sh": "echo begun; sleep 2; echo ended; exit 6\n"}, do: func(w *taskRun) {
		p := w.openTerminal("")
		w.typeLine(p, "export KEPT=yes")
		job := w.startBackground("sh job.sh")
		w.killEngine()
		wantMatch(w.typeLine(p, "echo kept=$KEPT").text, "kept=yes")
		r := w.awaitEnd(job)
		wantMatch(r.text, "ended")
		wantCode(r, 6)
	}},
	{name: "two agents at once", do: func(w *taskRun) {
		other := w.newDriver()
		done := make(chan any, 1)
		work := func(h driver, name string) {
			for n := range 5 {
				wantMatch(h.run(fmt.Sprintf("echo %s %d", name, n)).text, fmt.Sprint(name, " ", n))
			}
		}
		go func() {
			defer func() { done <- recover() }()
			work(other, "right")
		}()
		work(w.driver, "left")
		if failure := <-done; failure != nil {
			panic(failure)
		}
	}},
}

// serverApp is a server that reports its version.
const serverApp = `import http.server, sys
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"version 1")
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Page).serve_forever()
`

// sources are forty files. One contains the text to find.
var sources = strings.TrimSpace(`
for n in $(seq 40); do
	mkdir pkg$n
	(echo "package pkg$n"; for f in $(seq 30); do echo "func call$f() int { return $f }"; done) > pkg$n/file.go
done
(seq -f '// line %g' 8; printf 'func retry() {\n\tattempts := 3\n\t_ = attempts\n}\n') >> pkg7/file.go
`)
