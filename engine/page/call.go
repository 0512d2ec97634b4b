package page

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"tandem/engine/api"
	"tandem/engine/page/devices"
)

// operations are those of the API that the page has. What a session shows and is typed goes
// through an attachment.
func operations() []api.Entry {
	wanted := map[string]bool{}
	for _, name := range []string{
		api.EngineInfo.Name, api.SessionStart.Name, api.SessionRename.Name, api.SessionKill.Name, api.SessionScreen.Name, api.SessionRead.Name,
		api.SessionFind.Name, api.SessionText.Name, api.SessionKeyboard.Name,
		api.ProcessStart.Name, api.ProcessGet.Name, api.ProcessList.Name, api.ProcessLog.Name, api.ProcessStop.Name,
		api.ProcessRestart.Name, api.ProcessRemove.Name,
		api.HistorySearch.Name, api.RequestList.Name, api.RequestAnswer.Name,
		api.AgentSeen.Name, api.MachineList.Name, api.MachineConnect.Name, api.LayoutGet.Name,
	} {
		wanted[name] = true
	}
	var all []api.Entry
	for _, e := range api.Operations() {
		if wanted[e.Name] {
			all = append(all, e)
		}
	}
	return all
}

// ofLink are the operations of a link to one session: those that read it.
func ofLink(name string) bool {
	return name == api.SessionScreen.Name || name == api.SessionRead.Name || name == api.SessionFind.Name || name == api.SessionText.Name || name == api.ProcessGet.Name
}

// may refuses what a device was not given.
func may(d devices.Device, e api.Entry, input []byte) error {
	if d.Session != "" {
		var in api.IDInput
		if err := json.Unmarshal(input, &in); err != nil || in.ID != d.Session || !ofLink(e.Name) {
			return errors.New("this link shows one session only")
		}
	}
	if d.ReadOnly && e.Effect != api.Read {
		return errors.New("this device may only look")
	}
	return nil
}

// call carries out one operation.
func (p *Page) call(w http.ResponseWriter, r *http.Request, d devices.Device) {
	name := r.PathValue("operation")
	var found *api.Entry
	for _, e := range operations() {
		if e.Name == name {
			found = &e
		}
	}
	if found == nil {
		refuse(w, http.StatusNotFound, fmt.Errorf("the page has no operation %q", name))
		return
	}
	var input json.RawMessage
	if err := readJSON(w, r, &input, maxBody); err != nil {
		refuse(w, http.StatusBadRequest, err)
		return
	}
	machine := r.URL.Query().Get("host")
	if machine != "" && d.Session != "" {
		refuse(w, http.StatusForbidden, errors.New("this link shows one session only"))
		return
	}
	if err := may(d, *found, input); err != nil {
		refuse(w, http.StatusForbidden, err)
		return
	}
	engine, err := p.engines.of(r.Context(), machine)
	if err != nil {
		refuse(w, http.StatusBadGateway, err)
		return
	}
	var output json.RawMessage
	if err := engine.Do(r.Context(), found.Name, found.Effect, input, &output); err != nil {
		refuse(w, http.StatusUnprocessableEntity, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(output) // the browser may have gone
}
