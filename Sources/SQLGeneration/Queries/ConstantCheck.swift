import CoreDataModel

extension PredicateSQL {
    /// Checks that a constant is of the type of the column on the other side of a comparison.
    ///
    /// - Throws: an `NSError` that names the column's key path and the constant.
    func check(_ value: Value, against other: SQLOperand?) throws {
        guard let other, let name = other.name, let storage = other.storage else { return }
        if storage.isTransformable, value.isPlain {
            // An archive never equals it, whatever it contains.
            throw SQLError.unsupported(
                "a comparison of “\(name)”, which is transformable, with \(value.kindDescription): the store has it as an archive"
            )
        }
        guard !storage.canBeCompared(with: value) else { return }
        throw SQLError.unfit(
            "“\(name)” holds \(Self.content(of: other)), and is compared with \(value.kindDescription)")
    }

    /// What an operand's column holds, for error messages.
    static func content(of operand: SQLOperand) -> String {
        operand.root.map { "objects of “\($0.name)”" } ?? operand.storage?.valuesDescription
            ?? (operand.kind == .number ? "numbers" : "other values")
    }
}

extension ColumnStorage {
    /// Whether a comparison with a value makes sense. A text that spells a number counts as a number, as SQLite
    /// converts it.
    fileprivate func canBeCompared(with value: Value) -> Bool {
        switch (self, value) {
        case (_, .null), (.transformable, _), (.data, .data), (.uuid, .uuid), (.toOne, .object), (.url, .url),
            (.url, .string), (.string, .string), (.string, .url):
            true
        case (_, .string(let text)) where isNumber: text.spelledNumber != nil
        case (.integer, _), (.boolean, _), (.double, _), (.float, _), (.decimal, _), (.string, _):
            value.doubleValue != nil
        case (.date, .date): true
        // Seconds since 2001, as the column stores them.
        case (.date, _): value.doubleValue != nil
        case (.data, _), (.uuid, _), (.toOne, _), (.url, _): false
        }
    }

    /// The content of the column, for error messages.
    fileprivate var valuesDescription: String {
        switch self {
        case .integer: "whole numbers"
        case .boolean: "Booleans"
        case .double, .float, .decimal: "numbers"
        case .date: "dates"
        case .string: "texts"
        case .url: "URLs"
        case .uuid: "UUIDs"
        case .data: "data"
        case .transformable: "transformable values"
        case .toOne: "objects"
        }
    }
}

extension Value {
    /// Whether it is a single value, and not bytes, which could be an archive.
    fileprivate var isPlain: Bool {
        switch self {
        case .integer, .double, .decimal, .string, .date, .uuid, .url: true
        case .null, .data, .object, .collection: false
        }
    }
}
