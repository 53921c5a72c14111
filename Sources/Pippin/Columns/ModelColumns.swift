/// Functions that read a model from columns and write it to them without `Codable` in between. ``CoreModel()`` writes
/// them.
///
/// ```swift
/// ModelColumns(
///     ["id", "name"],
///     read: { columns in try Person(columns: columns) },
///     write: { person, columns in try person.write(columns: columns) })
/// ```
public struct ModelColumns: Sendable {
    /// The properties' names, in the order of their columns.
    let names: [String]
    let functions: ColumnFunctions

    /// - Parameters:
    ///   - names: the names of the stored properties. The coding keys must have the same names in the same order.
    ///   - read: makes a model from a row. It reads each column by its place among the names, and throws what reading
    ///     throws.
    ///   - write: gives each column its value, by the same places.
    public init<Model: Codable & Sendable>(
        _ names: [String], read: @escaping @Sendable (borrowing ColumnReader) throws -> Model,
        write: @escaping @Sendable (borrowing Model, borrowing ColumnWriter) throws -> Void
    ) {
        self.names = names
        functions = ColumnFunctionsOf<Model>(read: read, write: write)
    }
}

/// The functions of a model of any type.
class ColumnFunctions: @unchecked Sendable {
    // @unchecked Sendable: subclasses add only constants that are Sendable.
    let type: Any.Type

    init(type: Any.Type) { self.type = type }
}

final class ColumnFunctionsOf<Model>: ColumnFunctions, @unchecked Sendable {
    let read: @Sendable (borrowing ColumnReader) throws -> Model
    let write: @Sendable (borrowing Model, borrowing ColumnWriter) throws -> Void

    init(
        read: @escaping @Sendable (borrowing ColumnReader) throws -> Model,
        write: @escaping @Sendable (borrowing Model, borrowing ColumnWriter) throws -> Void
    ) {
        (self.read, self.write) = (read, write)
        super.init(type: Model.self)
    }
}

extension ColumnFunctions {
    /// The functions for a type; nil if these are for another type.
    @inline(__always)
    func functions<Model>(of type: Model.Type) -> ColumnFunctionsOf<Model>? {
        guard self.type == type else { return nil }
        // The types are the same, as was just checked. A cast would look that up again, slowly, for each row.
        return unsafeDowncast(self, to: ColumnFunctionsOf<Model>.self)
    }
}
