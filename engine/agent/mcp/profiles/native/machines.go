package native

import (
	"context"
	"fmt"
	"strings"
	"time"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
	"tandem/engine/screen/vt/scan"
)

// machinesWaitMS is how long machine_list waits for machines being connected.
const machinesWaitMS = 3000

func machineListTool() toolkit.Tool {
	t := toolkit.Define[toolkit.None, toolkit.None](toolkit.Tool{Name: "machine_list", Effect: api.Read,
		Profiles: []toolkit.Profile{toolkit.Native}, Doc: "List other machines."}, listMachines)
	return t
}

func listMachines(ctx context.Context, f *toolkit.Agent, _ toolkit.None) (toolkit.Result, error) {
	out, err := api.MachineList.Call(ctx, f.Engine, api.MachineListInput{WaitMS: machinesWaitMS})
	if err != nil {
		return toolkit.Result{}, err
	}
	if len(out.Machines) == 0 {
		return toolkit.Text("No other machines."), nil
	}
	var lines []string
	for _, m := range out.Machines {
		lines = append(lines, machineLine(m, time.Now()))
	}
	return toolkit.Text(strings.Join(lines, "\n")), nil
}

// machineLine describes a machine in one line: whether it can be used and, if not, why.
func machineLine(m api.Machine, now time.Time) string {
	line := m.Name + "  " + strings.ReplaceAll(string(m.State), "_", " ")
	switch {
	case m.State == api.MachineNeedsYou:
		return m.Name + "  needs the user: `tandem machine connect " + m.Name + "`"
	case m.State == api.MachineConnected:
		return fmt.Sprintf("%s, tandem %s, %.0f ms", line, m.Version, m.RTTMS)
	case m.LastSeen != nil:
		line += fmt.Sprintf(", last seen %v ago", now.Sub(*m.LastSeen).Round(time.Second))
	}
	if m.Error != "" {
		line += ": " + toolkit.Abbreviate(scan.Visible(m.Error))
	}
	return line
}
