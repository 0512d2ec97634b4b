package access

import (
	"tandem/engine/api"
)

// checkRole limits other users of a fleet, and their agents, to their roles. The machine's other
// rules apply in addition.
func checkRole(c api.Caller, name string, how api.Access, effect api.Effect) error {
	if c.Origin.Person == "" || roleAllows(c.Origin.Role, name, how, effect, c.Agent()) {
		return nil
	}
	return api.Errorf(api.CodeForbidden, "call %s: %s has the role %s in this fleet, which does not allow it", name, c.Origin.Person, c.Origin.Role)
}

// roleAllows reports whether a user with this role, or the user's agent, may call the operation
// name. The first case that applies decides.
func roleAllows(role api.FleetRole, name string, how api.Access, effect api.Effect, agent bool) bool {
	switch {
	case how == "": // an unknown operation
		return false
	case role == api.RoleAdmin:
		return true
	case role != api.RoleOperate && role != api.RoleRead: // of a newer fleet, perhaps
		return false
	case how == api.Bookkeeping: // the agent's server records its calls
		return agent
	case how == api.UserOnly: // for the machine's own user
		return false
	case how == api.Filtered && !agent: // only answers to agents are filtered
		return false
	case name == api.EngineStop.Name: // it concerns everybody's sessions and processes
		return false
	case role == api.RoleOperate:
		return true
	}
	return effect == api.Read && !readsSecrets(name, how)
}

// readsSecrets reports whether an operation can return the contents of files or variables.
func readsSecrets(name string, how api.Access) bool {
	return how == api.OnFiles || how == api.OnVariables || name == api.EnvGet.Name || name == api.EnvList.Name
}
