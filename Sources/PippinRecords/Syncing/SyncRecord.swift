import Pippin

/// A record that is synchronized with a server: changes are made here first and uploaded later; a deletion is carried
/// out here only once the server has been told.
///
/// ```swift
/// extension NoteRecord: SyncRecord {}     // the entity has Boolean attributes isUploaded and wasDeleted
///
/// for note in try await manager.fetchModelsToUpload(entity: NoteRecord.self) {
///     try await server.put(note)
///     try await manager.markAsUploaded(entity: NoteRecord.self, models: [note])   // not if it was changed meanwhile
/// }
/// ```
///
/// Two Boolean attributes hold its state. A new record in which both are unset waits to be uploaded.
public protocol SyncRecord: DataRecord {
    /// The attribute that says whether the server has the record in its present state. By default, `"isUploaded"`.
    static var isUploadedKey: String { get }

    /// The attribute that says whether the record is to be deleted once the server has been told. By default,
    /// `"wasDeleted"`.
    static var wasDeletedKey: String { get }
}

extension SyncRecord {
    /// `"isUploaded"`.
    public static var isUploadedKey: String { "isUploaded" }

    /// `"wasDeleted"`.
    public static var wasDeletedKey: String { "wasDeleted" }
}
