import CoreDataModel

/// What values are compared with one another. In memory, values of two kinds are unequal, and neither is less; SQLite
/// orders them by their kinds.
enum ValueKind {
    case number, date, text, uuid, data, object
    /// A transformable value, which is an archive of anything.
    case archive

    init(_ storage: ColumnStorage) {
        self =
            switch storage {
            case .integer, .boolean, .double, .float, .decimal: .number
            case .date: .date
            case .string, .url: .text
            case .uuid: .uuid
            case .data: .data
            case .transformable: .archive
            case .toOne: .object
            }
    }

    /// The kind of a constant; nil for nil and for collections.
    init?(_ value: Value) {
        switch value {
        case .null, .collection: return nil
        case .integer, .double, .decimal: self = .number
        case .date: self = .date
        case .string, .url: self = .text
        case .uuid: self = .uuid
        case .data: self = .data
        case .object: self = .object
        }
    }

    /// Whether values can be equal, or one of them less. A date beside a number is seconds since 2001.
    func isComparable(with other: ValueKind) -> Bool {
        switch (self, other) {
        case (.number, .date), (.date, .number): true
        default: self == other
        }
    }
}
