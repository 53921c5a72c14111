/// Names in the style of SQL: `orderLine` becomes `order_line`, `URLString` becomes `url_string`. Pure.
package enum SnakeCase {
    /// The longest name that PostgreSQL allows, in bytes.
    static let longest = 63

    package static func name(_ name: String) -> String {
        var result = ""
        let characters = Array(name)
        for (position, character) in characters.enumerated() {
            if character.isUppercase, position > 0, characters[position - 1] != "_" {
                let follows = position + 1 < characters.count && characters[position + 1].isLowercase
                if !characters[position - 1].isUppercase || follows { result += "_" }
            }
            result += character.lowercased()
        }
        return result
    }

    /// The beginning of a name that is too long, followed by an ending.
    package static func cut(_ name: String, ending: String = "") -> String {
        var cut = name
        while cut.utf8.count + ending.utf8.count > longest { cut.removeLast() }
        return cut + ending
    }

    /// A name with an ending. What is too long is cut, and followed by a number made of all of it, so that names that
    /// begin alike stay different.
    package static func distinct(_ name: String, ending: String = "") -> String {
        guard name.utf8.count + ending.utf8.count > longest else { return name + ending }
        let number = name.utf8.reduce(2_166_136_261 as UInt32) { ($0 ^ UInt32($1)) &* 16_777_619 }
        return cut(name, ending: "_" + String(number, radix: 16) + ending)
    }
}

/// Hands out names that are not taken: adds a number if two would be the same.
struct FreeNames {
    private var taken: Set<String>

    init(_ taken: Set<String> = []) { self.taken = taken }

    mutating func next(_ wanted: String) -> String {
        var candidate = SnakeCase.cut(wanted)
        var number = 1
        while !taken.insert(candidate).inserted {
            number += 1
            candidate = SnakeCase.cut(wanted, ending: "_\(number)")
        }
        return candidate
    }
}
