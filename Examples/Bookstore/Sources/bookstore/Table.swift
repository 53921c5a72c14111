import Foundation
import Pippin

/// A list in sections on a terminal, kept up to date: what a table view is on a screen.
struct Table {
    private var isDrawn = false
    private var height = 0

    /// Draws a list, over the one before it where the output is a terminal, and says what became different.
    mutating func show(_ update: ListUpdate<Review>) {
        var lines: [String] = []
        for (section, content) in update.list.sections.enumerated() {
            lines.append(content.name.bold)
            for (row, review) in content.models.enumerated() {
                let place = IndexPath(indexes: [section, row])
                let isNew = isDrawn && update.changes.brings(place)
                lines.append("\(isNew ? "+" : " ") \(review.line)")
            }
        }
        if lines.isEmpty { lines = ["No reviews yet."] }
        if isDrawn, isatty(STDOUT_FILENO) == 1 { print("\u{1B}[\(height)A\u{1B}[J", terminator: "") }
        print(lines.joined(separator: "\n"), terminator: "\n\n")
        // Also where somebody reads it through a pipe.
        fflush(nil)
        height = lines.count + 1
        isDrawn = true
    }
}

extension ListChanges {
    /// Whether a row, or its whole section, is new.
    fileprivate func brings(_ place: IndexPath) -> Bool {
        insertions.contains(place) || insertedSections.contains(place[0])
    }
}
