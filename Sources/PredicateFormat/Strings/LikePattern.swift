/// The right side of `LIKE`: `?` is any one character, `*` any number of them, and a backslash before either makes it
/// the character itself.
package struct LikePattern: Sendable {
    private enum Element: Equatable {
        case scalar(Unicode.Scalar)
        case one
        case many
    }

    private var elements: [Element] = []
    private let options: StringOptions

    package init(_ pattern: String, options: StringOptions) {
        self.options = options
        var isEscaped = false
        for scalar in pattern.folded(options).unicodeScalars {
            if isEscaped {
                elements.append(.scalar(scalar))
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
            } else if scalar == "?" {
                elements.append(.one)
            } else if scalar != "*" {
                elements.append(.scalar(scalar))
            } else if elements.last != .many {
                elements.append(.many)
            }
        }
        if isEscaped { elements.append(.scalar("\\")) }
    }

    private static let cache = PatternCache<LikePattern>()

    /// The pattern, made once while it is used again and again.
    package static func cached(_ pattern: String, options: StringOptions) -> LikePattern {
        cache.pattern(pattern, options) { LikePattern($0, options: $1) } ?? LikePattern(pattern, options: options)
    }

    /// Whether the whole string fits the pattern.
    package func matches(_ string: String) -> Bool {
        let text = string.folded(options).unicodeScalars
        var position = text.startIndex
        var element = 0
        // Where to go on when a later element does not fit: let the last `*` take one character more.
        var retry: (element: Int, position: String.Index)?
        while position < text.endIndex {
            if element < elements.count, elements[element] == .many {
                element += 1
                retry = (element, position)
                continue
            }
            if element < elements.count, fits(elements[element], text[position]) {
                element += 1
                position = text.index(after: position)
                continue
            }
            guard let last = retry else { return false }
            element = last.element
            position = text.index(after: last.position)
            retry = (element, position)
        }
        return elements[element...].allSatisfy { $0 == .many }
    }

    private func fits(_ element: Element, _ scalar: Unicode.Scalar) -> Bool {
        switch element {
        case .scalar(let expected): expected == scalar
        case .one, .many: true
        }
    }
}
