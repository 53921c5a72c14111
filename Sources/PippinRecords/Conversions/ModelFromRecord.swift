import Pippin

/// A model that is made of a record by an initializer, which may refuse.
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
/// A record that is refused is left out of what is fetched.
public protocol ModelFromRecord: Identifiable, SendableMetatype {
    /// The record type, a final class.
    associatedtype Record: DataRecord

    /// The model with a record's properties; its relations follow in ``RecordToModel/relationsToModel(_:_:)``.
    ///
    /// - Parameter record: the record, on whose context's queue this is called.
    /// - Throws: what keeps the record from being a model; the fetch that asked for it throws that, too.
    init?(record: Record) throws
}

extension RecordToModel where ModelType: ModelFromRecord, ModelType.Record == Self {
    /// What the model's initializer makes of this record.
    ///
    /// - Throws: ``PersistenceError/Code/notConvertible`` where it gives nil.
    public func toModel() throws -> ModelType {
        if let model = try ModelType(record: self) { return model }
        throw PersistenceError.notConvertible(
            entity: Self.entityName, uid: value(forKey: Self.uidKey).map { "\($0)" } ?? "")
    }
}
