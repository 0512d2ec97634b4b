// Package plugin holds the tools of the plugin profile: files, searches, commands and processes.
// Their formats are fixed by its seed document; the native profile shares the tools, mostly with
// shorter results.
package plugin

import (
	"slices"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

// Tools returns the tools of the plugin profile. The native profile offers a tool too, with shorter
// results, unless the tool names its own profiles.
func Tools() []toolkit.Tool {
	files := slices.Concat(fileTools(), searchTools())
	for i := range files {
		files[i].Files = true
	}
	tools := slices.Concat(files, []toolkit.Tool{execTool()}, processTools())
	for i := range tools {
		if tools[i].Profiles == nil {
			tools[i].Profiles = []toolkit.Profile{toolkit.Native, toolkit.Plugin}
		}
	}
	return tools
}

func fileTools() []toolkit.Tool {
	only := []toolkit.Profile{toolkit.Plugin}
	return []toolkit.Tool{
		toolkit.Define[ReadInput, toolkit.None](toolkit.Tool{Name: "read", Effect: api.Read,
			Doc: "Read a text file (limit lines, cut at 50 KB) or an image."}, readFile),
		toolkit.Define[jsonInput, toolkit.None](toolkit.Tool{Name: "read_json", Effect: api.Read, Profiles: only,
			Doc: "Read a JSON file."}, readJSON),
		toolkit.Define[writeInput, toolkit.None](toolkit.Tool{Name: "write", Effect: api.Destructive,
			Doc: "Create or replace a file; creates parent folders."}, writeFile),
		toolkit.Define[EditInput, toolkit.None](toolkit.Tool{Name: "edit", Effect: api.Destructive,
			Doc: "Replace exact text that occurs once, or everywhere with replaceAll; all edits or none."}, editFile),
		toolkit.Define[outputInput, toolkit.None](toolkit.Tool{Name: "write_output", Effect: api.Write, Profiles: only,
			Doc: "Write a report to a new file in ~/outputs."}, writeOutput),
	}
}

func searchTools() []toolkit.Tool {
	return []toolkit.Tool{
		toolkit.Define[grepInput, toolkit.None](toolkit.Tool{Name: "grep", Effect: api.Read,
			Doc: "Search file contents; honors .gitignore."}, grepFiles),
		toolkit.Define[findInput, toolkit.None](toolkit.Tool{Name: "find", Effect: api.Read,
			Doc: "Find files by glob; honors .gitignore."}, findFiles),
		toolkit.Define[listInput, toolkit.None](toolkit.Tool{Name: "ls", Effect: api.Read,
			Doc: "List a folder."}, listFolder),
	}
}

func execTool() toolkit.Tool {
	return toolkit.Define[execInput, CommandState](toolkit.Tool{Name: "exec", Effect: api.Destructive, Large: true,
		Doc: "Run a shell command and wait. After timeoutMs it keeps running as a process; the result has its id."}, runCommand)
}

func processTools() []toolkit.Tool {
	return []toolkit.Tool{
		toolkit.Define[StartInput, ProcessState](toolkit.Tool{Name: "process_start", Effect: api.Destructive, Profiles: []toolkit.Profile{toolkit.Plugin},
			Doc: "Start a durable background process."}, startAndDescribe),
		toolkit.Define[toolkit.None, toolkit.None](toolkit.Tool{Name: "process_list", Effect: api.Read, Profiles: []toolkit.Profile{toolkit.Plugin},
			Doc: "List processes."}, listProcesses),
		toolkit.Define[toolkit.IDInput, ProcessState](toolkit.Tool{Name: "process_get", Effect: api.Read, Profiles: []toolkit.Profile{toolkit.Plugin},
			Doc: "Get one process."}, getProcess),
		toolkit.Define[stopInput, toolkit.None](toolkit.Tool{Name: "process_stop", Effect: api.Destructive,
			Doc: "Stop a process and all it started (SIGKILL after 8 s)."}, stopProcess),
		toolkit.Define[StopAllInput, toolkit.None](toolkit.Tool{Name: "process_stop_all", Effect: api.Destructive, Profiles: []toolkit.Profile{toolkit.Plugin},
			Doc: "Stop all processes."}, StopAll),
	}
}
