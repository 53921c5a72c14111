import CoreData
import Pippin

/// The records that are being filled from models, so that a model on a cycle finds its record instead of filling it
/// endlessly.
enum RecordConversion {
    private struct Key: Hashable {
        let context: ObjectIdentifier
        let entity: String
        let uid: AnyHashable
    }

    private final class Filling: @unchecked Sendable {
        // @unchecked Sendable: made and used on one context's queue.
        let records: [Key: NSManagedObject]
        let outer: Filling?

        init(_ records: [Key: NSManagedObject], within outer: Filling?) {
            self.records = records
            self.outer = outer
        }
    }

    @TaskLocal private static var current: Filling?

    /// The record of a model that an outer call is filling.
    static func record<Record: DataRecord>(
        _ type: Record.Type, _ uid: Record.UidType, in context: NSManagedObjectContext
    )
        -> Record?
    {
        let key = Key(context: ObjectIdentifier(context), entity: Record.entityName, uid: uid)
        var filling = current
        while let next = filling {
            if let record = next.records[key] as? Record { return record }
            filling = next.outer
        }
        return nil
    }

    /// Fills records from their models: the properties of all of them, then their relations.
    static func fill<Record: RecordFromModel>(
        _ pairs: [(record: Record, model: Record.ModelType)], in context: NSManagedObjectContext
    ) throws {
        let keyed = pairs.map {
            (Key(context: ObjectIdentifier(context), entity: Record.entityName, uid: $0.model.id), $0.record)
        }
        let records: [Key: NSManagedObject] = Dictionary(keyed, uniquingKeysWith: { first, _ in first })
        try $current.withValue(Filling(records, within: current)) {
            for pair in pairs { try pair.record.fromModel(pair.model) }
            for pair in pairs { try pair.record.relationsFromModel(pair.model) }
        }
    }
}
