import Pippin

/// A model that is made from a record by an initializer, which may refuse the record.
///
/// ```swift
/// extension Person: ModelFromRecord {
///     init?(record: PersonRecord) {
///         guard let id = record.id, let name = record.name else { return nil }
///         self.init(uid: id, name: name)
///     }
/// }
///
/// extension PersonRecord: RecordToModel { typealias ModelType = Person }
/// ```
///
/// Fetches leave refused records out. A model that contains one is not left out: if its conversion needs the refused
/// model, the fetch throws.
public protocol ModelFromRecord: Identifiable, SendableMetatype {
    /// The record type, a final class.
    associatedtype Record: DataRecord

    /// Makes the model with a record's properties; ``RecordToModel/relationsToModel(_:_:)`` adds its relations.
    ///
    /// - Parameter record: the record, on whose context's queue this is called.
    /// - Throws: the reason why the record cannot be converted; the fetch throws it, too.
    init?(record: Record) throws
}

extension RecordToModel where ModelType: ModelFromRecord, ModelType.Record == Self {
    /// The result of the model's initializer for this record.
    ///
    /// - Throws: ``PersistenceError/Code/notConvertible`` if it returns nil.
    public func toModel() throws -> ModelType {
        if let model = try ModelType(record: self) { return model }
        throw refusal
    }
}

extension DataRecord {
    /// The error of a record that its model refuses.
    var refusal: PersistenceError { .notConvertible(entity: Self.entityName, uid: identifierText) }
}
