package mcp

import (
	"slices"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

// usesOf returns the operations that each tool calls.
func usesOf() map[string][]string {
	log := []string{api.ProcessGet.Name, api.ProcessLog.Name}
	session := []string{api.SessionGet.Name, api.SessionRead.Name, api.SessionWait.Name, api.SessionScreen.Name}
	list, run := []string{api.ProcessList.Name}, []string{api.Exec.Name}
	return map[string][]string{
		"read": {api.FilesRead.Name}, "read_json": {api.FilesReadJSON.Name}, "write": {api.FilesWrite.Name}, "edit": {api.FilesEdit.Name},
		"write_output": {api.FilesReport.Name}, "grep": {api.FilesGrep.Name}, "find": {api.FilesFind.Name}, "ls": {api.FilesList.Name},
		"exec":          {api.Exec.Name, api.ProcessLog.Name},
		"process_start": append([]string{api.ProcessStart.Name, api.ProcessStop.Name, api.ProcessWait.Name}, log...), "process_list": list,
		"process_get": {api.ProcessGet.Name}, "process_stop": {api.ProcessStop.Name}, "process_stop_all": {api.ProcessStopAll.Name},
		"process_restart": {api.ProcessRestart.Name}, "process_log": log, "process_wait": append([]string{api.ProcessWait.Name}, log...),
		"session_start": append([]string{api.SessionStart.Name}, session...), "session_exec": append([]string{api.SessionExec.Name}, session...),
		"session_write": append([]string{api.SessionWrite.Name}, session...), "session_read": append([]string{api.SessionGet.Name}, log...),
		"session_screen": {api.SessionGet.Name, api.SessionScreen.Name}, "session_wait": session,
		"session_resize": {api.SessionResize.Name}, "session_kill": {api.SessionKill.Name, api.SessionGet.Name}, "session_list": {api.SessionList.Name},
		"agent_list": {api.SessionList.Name, api.FilesGit.Name}, "agent_wait": {api.AgentWait.Name, api.SessionList.Name},
		"agent_prompt":     {api.AgentExplain.Name, api.SessionWrite.Name, api.AgentWait.Name},
		"agent_transcript": {api.AgentExplain.Name, api.FilesStat.Name, api.FilesRead.Name, api.SessionScreen.Name},
		"history":          {api.HistorySearch.Name}, "output_search": {api.OutputSearch.Name}, "machine_list": {api.MachineList.Name},
		"env_get": {api.EnvGet.Name}, "env_set": {api.EnvSet.Name}, "env_unset": {api.EnvUnset.Name, api.EnvGet.Name},

		"execute-command": {api.Exec.Name, api.CommandsAdd.Name}, "start-command-async": {api.ProcessStart.Name},
		"check-command-status": log, "stop-command": {api.ProcessGet.Name, api.ProcessStop.Name}, "list-background-processes": list,
		"get-command-history": {api.CommandsList.Name}, "clear-command-history": {api.CommandsReplace.Name},
		"save-to-file": {api.HistorySave.Name}, "load-from-file": {api.HistoryLoad.Name},

		"shell_cmd": run, "stop_daemon": {api.ProcessList.Name, api.ProcessStop.Name}, "get_daemon_output": {api.ProcessList.Name, api.ProcessLog.Name},

		"run_terminal_command": run, "format_terminal_output": nil,
		"start_interactive_shell": {api.SessionStart.Name, api.SessionWait.Name, api.SessionExec.Name},

		"local_run_shell": run, "termux_run_shell": run,
		"local_shell_session": append([]string{api.ProcessStart.Name, api.SessionExec.Name, api.ProcessWrite.Name, api.ProcessStop.Name, api.ProcessList.Name}, log...),
		"termux_shell_session": append([]string{api.SessionStart.Name, api.SessionWait.Name, api.SessionExec.Name, api.SessionWrite.Name, api.SessionResize.Name,
			api.SessionKill.Name, api.ProcessList.Name}, log...),
		"termux_fs":  {api.FilesRead.Name, api.FilesWrite.Name, api.FilesList.Name, api.FilesStat.Name, api.FilesMkdir.Name, api.FilesDelete.Name},
		"device_api": {api.EngineInfo.Name, api.EngineStop.Name, api.SessionList.Name},
	}
}

// declared are the tools whose first operation does not say what the others work on.
var declared = []string{"process_start", "session_exec", "session_write", "agent_prompt", "stop-command", "start_interactive_shell", "local_shell_session", "termux_shell_session", "device_api", "format_terminal_output"}

// withUses completes tools with the operations that they call.
func withUses(tools []toolkit.Tool) []toolkit.Tool {
	uses := usesOf()
	for i := range tools {
		tools[i].Uses, tools[i].Declared = uses[tools[i].Name], slices.Contains(declared, tools[i].Name)
	}
	return tools
}
