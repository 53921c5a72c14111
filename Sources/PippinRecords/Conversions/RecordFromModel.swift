import Pippin

/// A record that can be filled from its model.
///
/// ```swift
/// extension PersonRecord: RecordFromModel {
///     func fromModel(_ person: Person) {
///         id = person.uid
///         name = person.name
///     }
/// }
/// ```
///
/// Records of models within the model come from ``record(from:in:)``:
///
/// ```swift
/// extension BookRecord: RecordFromModel {
///     func fromModel(_ book: Book) throws {
///         title = book.title
///         author = try book.author.map { try AuthorRecord.record(from: $0, in: managedObjectContext) }
///     }
/// }
/// ```
public protocol RecordFromModel: ModelRepresentable {
    /// The type of the model that the record stands for. The method below implies it.
    associatedtype ModelType

    /// Takes over the model's values.
    ///
    /// The attribute named by ``DataRecord/uidKey`` is set already. An implementation that cannot fail leaves out the `throws`.
    ///
    /// - Parameter model: the model that this record stands for.
    /// - Throws: what keeps the record from taking the values; the save throws that, too, and nothing is written.
    func fromModel(_ model: ModelType) throws

    /// Takes over what the model leads to, once all records of a save have their own values. Unless you say otherwise, nothing.
    ///
    /// Models that lead back to themselves find their record here, which is not filled a second time.
    ///
    /// - Parameter model: the model that this record stands for.
    /// - Throws: what keeps the record from taking the relations; the save throws that, too, and nothing is written.
    func relationsFromModel(_ model: ModelType) throws
}

extension RecordFromModel {
    /// Does nothing.
    ///
    /// - Parameter model: not used.
    /// - Throws: nothing; an implementation of yours may throw.
    public func relationsFromModel(_ model: ModelType) throws {}
}
