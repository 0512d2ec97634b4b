// Package machines connects the dashboard to other machines' engines, through the local
// one. A Set holds a connection to each machine, follows its events, and reconnects. Its
// Engine combines all of them: a session of machine box has the id "box/" followed by its
// id there. A call to an offline machine fails; it never delays calls to others.
package machines
