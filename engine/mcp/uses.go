package mcp

import (
	"slices"

	"tandem/engine/api"
	"tandem/engine/mcp/toolkit"
)

// usesOf returns the operations that each tool calls.
func usesOf() map[string][]string {
	log := []string{api.ProcessGet.Name, api.ProcessLog.Name}
	session := []string{api.SessionGet.Name, api.ProcessGet.Name, api.SessionRead.Name, api.ProcessLog.Name, api.SessionWait.Name, api.SessionScreen.Name}
	list := []string{api.ProcessList.Name}
	return map[string][]string{
		"read": {api.FilesRead.Name}, "read_json": {api.FilesReadJSON.Name}, "write": {api.FilesWrite.Name}, "edit": {api.FilesEdit.Name},
		"write_output": {api.FilesReport.Name}, "grep": {api.FilesGrep.Name, api.FilesStat.Name}, "find": {api.FilesFind.Name, api.FilesStat.Name},
		"ls": {api.FilesList.Name, api.FilesStat.Name}, "exec": {api.Exec.Name, api.ProcessLog.Name, api.ProcessGet.Name},
		"process_start": {api.ProcessStart.Name, api.ProcessGet.Name, api.ProcessWait.Name, api.ProcessLog.Name}, "process_list": list,
		"process_get": {api.ProcessGet.Name}, "process_stop": {api.ProcessStop.Name}, "process_stop_all": {api.ProcessStopAll.Name},
		"process_restart": {api.ProcessRestart.Name}, "process_log": log, "process_wait": append([]string{api.ProcessWait.Name}, log...),
		"session_start": append([]string{api.SessionStart.Name}, session...), "session_exec": append([]string{api.SessionExec.Name}, session...),
		"session_write": append([]string{api.SessionWrite.Name}, session...), "session_read": session, "session_screen": session, "session_wait": session,
		"session_resize": {api.SessionResize.Name}, "session_kill": {api.SessionKill.Name, api.SessionGet.Name}, "session_list": {api.SessionList.Name},
		"agent_list": {api.SessionList.Name}, "agent_wait": {api.AgentWait.Name, api.SessionList.Name},
		"agent_prompt":     {api.SessionGet.Name, api.AgentExplain.Name, api.SessionWrite.Name, api.AgentWait.Name},
		"agent_transcript": {api.SessionGet.Name, api.AgentExplain.Name, api.SessionScreen.Name},
		"history":          {api.HistorySearch.Name}, "machine_list": {api.MachineList.Name},
		"env_get": {api.EnvGet.Name}, "env_set": {api.EnvSet.Name}, "env_unset": {api.EnvUnset.Name, api.EnvGet.Name},

		"execute-command": {api.Exec.Name, api.ProcessLog.Name, api.ProcessGet.Name, api.CommandsAdd.Name}, "start-command-async": {api.ProcessStart.Name},
		"check-command-status": log, "stop-command": {api.ProcessGet.Name, api.ProcessStop.Name}, "list-background-processes": list,
		"get-command-history": {api.CommandsList.Name}, "clear-command-history": {api.CommandsReplace.Name},
		"save-to-file": {api.HistorySave.Name}, "load-from-file": {api.HistoryLoad.Name},

		"shell_cmd": {api.Exec.Name, api.ProcessLog.Name, api.ProcessGet.Name}, "stop_daemon": {api.ProcessStop.Name}, "get_daemon_output": {api.ProcessLog.Name},

		"run_terminal_command": {api.Exec.Name, api.ProcessLog.Name, api.ProcessGet.Name}, "format_terminal_output": nil,
		"start_interactive_shell": append([]string{api.SessionStart.Name, api.SessionExec.Name, api.ProcessWait.Name}, session...),

		"local_run_shell": {api.Exec.Name, api.ProcessLog.Name, api.ProcessGet.Name}, "termux_run_shell": {api.Exec.Name, api.ProcessLog.Name, api.ProcessGet.Name},
		"local_shell_session": {api.ProcessStart.Name, api.ProcessGet.Name, api.ProcessWrite.Name, api.ProcessLog.Name, api.ProcessWait.Name, api.ProcessStop.Name, api.ProcessList.Name},
		"termux_shell_session": append([]string{api.SessionStart.Name, api.SessionExec.Name, api.SessionWrite.Name, api.SessionResize.Name, api.SessionKill.Name,
			api.ProcessGet.Name, api.ProcessLog.Name, api.ProcessWait.Name, api.ProcessList.Name}, session...),
		"termux_fs":  {api.FilesRead.Name, api.FilesWrite.Name, api.FilesList.Name, api.FilesStat.Name, api.FilesMkdir.Name, api.FilesDelete.Name},
		"device_api": {api.EngineInfo.Name, api.EngineStop.Name, api.SessionList.Name},
	}
}

// declared are the tools whose first operation does not say what the others work on.
var declared = []string{"session_exec", "session_write", "agent_prompt", "stop-command", "start_interactive_shell", "local_shell_session", "termux_shell_session", "device_api", "format_terminal_output"}

// withUses completes tools with the operations that they call.
func withUses(tools []toolkit.Tool) []toolkit.Tool {
	uses := usesOf()
	for i := range tools {
		tools[i].Uses, tools[i].Declared = uses[tools[i].Name], slices.Contains(declared, tools[i].Name)
	}
	return tools
}
