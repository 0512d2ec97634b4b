package widget

import tea "charm.land/bubbletea/v2"

// OwnCursor is the shape of a cursor that is to be as the person's terminal has it.
const OwnCursor tea.CursorShape = -1
