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
    /// The type of the model that the record represents. The method below implies it.
    associatedtype ModelType

    /// Takes the model's values.
    ///
    /// The attribute named by ``DataRecord/uidKey`` is already set. An implementation that cannot fail omits `throws`.
    ///
    /// - Parameter model: the model that this record represents.
    /// - Throws: the reason why the record cannot take the values; the save throws it, too, and nothing is written.
    func fromModel(_ model: ModelType) throws

    /// Takes the model's relations, after all records of a save have their own values. By default it does nothing.
    ///
    /// A model on a cycle finds its existing record here, which is not filled a second time.
    ///
    /// - Parameter model: the model that this record represents.
    /// - Throws: the reason why the record cannot take the relations; the save throws it, too, and nothing is written.
    func relationsFromModel(_ model: ModelType) throws
}

extension RecordFromModel {
    /// Does nothing.
    ///
    /// - Parameter model: not used.
    /// - Throws: nothing; an implementation of yours may throw.
    public func relationsFromModel(_ model: ModelType) throws {}
}
