import Foundation

// The book store on paper: text for structs.

extension Store {
    var shelf: String {
        let width = books.map(\.title.count).max() ?? 0
        let lines = books.map { book in
            "  \(book.title.padded(to: width))   \(book.price.dollars)   \(book.byline)"
        }
        return ([brand.bold] + lines).joined(separator: "\n")
    }
}

extension Book {
    var byline: String { [author?.name, publisher].compactMap(\.self).joined(separator: ", ") }
}

extension Review {
    var line: String { "  \((user?.name ?? "Somebody").padded(to: 8)) “\(content)”" }
}

extension Double {
    var dollars: String { String(format: "$%6.2f", self) }
}

extension String {
    /// In bold type on a terminal, and plain elsewhere.
    var bold: String { isatty(STDOUT_FILENO) == 1 ? "\u{1B}[1m\(self)\u{1B}[0m" : self }

    func padded(to width: Int) -> String { self + String(repeating: " ", count: Swift.max(0, width - count)) }
}
