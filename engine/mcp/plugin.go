package mcp

import (
	"path/filepath"
	"slices"

	"tandem/engine/api"
)

// pluginTools are the tools of the profile plugin: files, search, commands for
// a shell, and durable processes. The native profile has them too.
func pluginTools() []tool {
	tools := slices.Concat(fileTools(), searchTools(), []tool{execTool()}, processTools())
	for i := range tools {
		tools[i].judged = true
		if tools[i].profiles == nil {
			tools[i].profiles = []Profile{Native, Plugin}
		}
	}
	return tools
}

// defaultRoots are the folders that file tools are confined to if nothing else
// was said: the working folder, and where write_output writes; for the profile
// plugin, whose paths may begin with "~/", the home folder.
func defaultRoots(o Options) []string {
	home := filepath.Join(o.Home, "outputs")
	if slices.Contains(o.Profiles, Plugin) || slices.Contains(o.Profiles, All) {
		home = o.Home
	}
	if o.Home == "" {
		return []string{o.CWD}
	}
	return []string{o.CWD, home}
}

func fileTools() []tool {
	return []tool{
		define[readInput, none](tool{name: "read", effect: api.Read, idempotent: true,
			doc: "Read a text file, at most 2000 lines or 50 KB, or an image."}, readFile),
		define[pathInput, none](tool{name: "read_json", effect: api.Read, idempotent: true,
			doc: "Read a whole JSON file."}, readJSON),
		define[writeInput, none](tool{name: "write", effect: api.Destructive,
			doc: "Write a file, all at once; parent folders are made."}, writeFile),
		define[editInput, none](tool{name: "edit", effect: api.Destructive,
			doc: "Replace exact text in a file; all edits or none."}, editFile),
		define[outputInput, none](tool{name: "write_output", effect: api.Write,
			doc: "Write a report to a new file in ~/outputs; answers its path."}, writeOutput),
	}
}

func searchTools() []tool {
	return []tool{
		define[grepInput, none](tool{name: "grep", effect: api.Read, idempotent: true,
			doc: "Search file contents; .gitignore counts. Answers file:line:content."}, grepFiles),
		define[findInput, none](tool{name: "find", effect: api.Read, idempotent: true,
			doc: "Find files by glob, hidden ones too; .gitignore counts."}, findFiles),
		define[listInput, none](tool{name: "ls", effect: api.Read, idempotent: true,
			doc: "List a folder."}, listFolder),
	}
}

func execTool() tool {
	return define[execInput, commandState](tool{name: "exec", effect: api.Destructive,
		doc: "Run a shell command and wait. After timeoutMs it goes on as a process."}, execCommand)
}

func processTools() []tool {
	return []tool{
		define[startInput, processState](tool{name: "process_start", effect: api.Destructive,
			doc: "Start a durable background process."}, processStart),
		define[none, none](tool{name: "process_list", effect: api.Read, idempotent: true,
			doc: "List processes and their status."}, processList),
		define[idInput, processState](tool{name: "process_get", effect: api.Read, idempotent: true,
			doc: "Tell about one process."}, processGet),
		define[stopInput, none](tool{name: "process_stop", effect: api.Destructive,
			doc: "Stop a process and all it started."}, processStop),
		define[stopAllInput, none](tool{name: "process_stop_all", effect: api.Destructive, profiles: []Profile{Plugin},
			doc: "Stop all processes."}, processStopAll),
	}
}
