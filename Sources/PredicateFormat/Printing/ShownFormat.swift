import Foundation

extension PredicateTree {
    /// The format string that `predicateFormat` shows: ``format``, except that UUIDs are shown without a cast.
    var shownFormat: String { format.withPlainUUIDs }
}

extension ExpressionTree {
    /// The text that the expression's description shows.
    var shownFormat: String { format.withPlainUUIDs }
}

extension String {
    /// The format string with UUIDs as Core Data shows them, although it cannot parse them: `id == E621E1F8-…` for `id
    /// == CAST("E621E1F8-…", "NSUUID")`. In a text within it, quotes are escaped, so that it is not taken for a cast.
    fileprivate var withPlainUUIDs: String {
        let (start, end, digits) = (#"CAST(""#, #"", "NSUUID")"#, 36)
        guard utf8.count >= start.utf8.count + digits, contains(end) else { return self }
        var shown = ""
        for (number, part) in components(separatedBy: start).enumerated() {
            if number == 0 {
                shown += part
            } else if part.dropFirst(digits).hasPrefix(end), !shown.hasSuffix("\\") {
                shown += part.prefix(digits) + part.dropFirst(digits + end.count)
            } else {
                shown += start + part
            }
        }
        return shown
    }
}
