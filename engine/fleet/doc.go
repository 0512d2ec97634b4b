// Package fleet is many machines on NATS. Engines dial out to it and nobody dials
// them: a machine tells how it is and what runs there in two key-value buckets,
// and a person's engine reads these and opens connections to machines that it
// means. What such a connection carries is the API as it is.
package fleet

import (
	"fmt"
	"slices"
	"strings"

	"tandem/engine/api"
)

// The buckets. Each machine writes its own keys alone: NAME in the first, NAME.ID in
// the second.
const (
	HostsBucket     = "tandem_hosts"
	ProcessesBucket = "tandem_processes"
)

// A Role bounds what a person may do on machines of the fleet.
type Role = api.FleetRole

// Known reports whether there is such a role.
func Known(r Role) bool { return slices.Contains(Roles(), string(r)) }

// Roles are all of them, the least first.
func Roles() []string {
	return []string{string(api.RoleRead), string(api.RoleOperate), string(api.RoleAdmin)}
}

// ValidName reports whether a machine or person may be called so: one token of a
// subject, which is why it has no dots.
func ValidName(name string) bool {
	for i, r := range name {
		if !plain(r) && (i == 0 || !strings.ContainsRune("_-", r)) {
			return false
		}
	}
	return name != "" && len(name) <= 63
}

// ValidLabel reports whether "key=value" may be a label.
func ValidLabel(label string) bool {
	key, value, ok := strings.Cut(label, "=")
	return ok && ValidName(key) && ValidName(value)
}

func plain(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' }

// Subjects. A link is what one connection goes over; its id is known to its two ends
// alone.
func openSubject(machine, person string) string   { return "tandem.host." + machine + ".open." + person }
func anySubject(label, person string) string      { return "tandem.any." + label + "." + person }
func upSubject(machine, person, id string) string { return linkSubject(machine, person, id, "up") }
func downSubject(machine, person, id string) string {
	return linkSubject(machine, person, id, "down")
}

func linkSubject(machine, person, id, way string) string {
	return fmt.Sprintf("tandem.link.%s.%s.%s.%s", machine, person, id, way)
}

// JoinSubject is where the hub takes invitations.
const JoinSubject = "tandem.join"

// HubSubject is where the hub is asked to do something: by people with the role admin,
// and by whoever has the hub's folder.
func HubSubject(asker, what string) string { return "tandem.hub." + asker + "." + what }

// InboxPrefix is the prefix of all inboxes.
const InboxPrefix = "_INBOX_"

// Inbox returns the prefix of the subjects that only one user can subscribe to.
func Inbox(kind Kind, name string) string { return InboxPrefix + string(kind) + "_" + name }

// Covers reports whether subject matches pattern, in which * matches one token. A consumer can make
// JetStream deliver rows, under their own subject, to any subscription, so receivers must check.
func Covers(pattern, subject string) bool {
	for pattern != "" && subject != "" {
		var want, token string
		want, pattern, _ = strings.Cut(pattern, ".")
		token, subject, _ = strings.Cut(subject, ".")
		if want != token && (want != "*" || token == "") {
			return false
		}
	}
	return pattern == "" && subject == ""
}
