#if canImport(ObjectiveC)
    import CoreData

    // With Apple's Core Data, rows in these types are filled from managed objects.

    /// One value of a row.
    enum StoredValue: @unchecked Sendable {
        // @unchecked Sendable: the objects in `.object` do not change.
        case null
        case integer(Int64)
        case double(Double)
        case string(String)
        /// Seconds since 2001-01-01 00:00 UTC.
        case date(Double)
        case data(Data)
        case uuid(UUID)
        case identifier(NSManagedObjectID)
        case object(NSObject)

        var isNull: Bool {
            if case .null = self { return true }
            return false
        }
    }

    /// The values of one object, by slot.
    struct Row: @unchecked Sendable {
        // @unchecked Sendable: see StoredValue.
        let objectID: NSManagedObjectID
        var version: Int64
        var values: ContiguousArray<StoredValue>
    }

    /// A row while it is handed out.
    protocol CurrentRow: AnyObject {
        func value(at slot: Int) throws -> StoredValue
        func whole() throws -> Row
        func string(at slot: Int) -> String?
        func integer(at slot: Int) -> Int64?
        func double(at slot: Int) -> Double?
        func date(at slot: Int) -> Double?
    }

    /// A row whose values have been read already.
    final class ReadRow: CurrentRow {
        private var row: Row
        init(_ row: Row) { self.row = row }
        func stand(on row: Row) { self.row = row }
        func whole() -> Row { row }
        func value(at slot: Int) -> StoredValue { row.values[slot] }
        func string(at slot: Int) -> String? { nil }
        func integer(at slot: Int) -> Int64? { nil }
        func double(at slot: Int) -> Double? { nil }
        func date(at slot: Int) -> Double? { nil }
    }

    /// The value of a composite attribute.
    final class CompositeValue: NSObject {
        let elements: [String: Any]
        init(_ elements: [String: Any]) { self.elements = elements }
    }

    // Apple's Core Data raises an exception.
    extension StoredValue {
        var missingFile: String? { nil }
    }

    extension NSManagedObject {
        func missingFile(of key: String) -> String? { nil }
    }
#endif
