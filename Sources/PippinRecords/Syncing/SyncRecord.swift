import Pippin

/// A record that is kept in step with a server: changed here first, uploaded later; and deleted here only once the server
/// knows.
///
/// ```swift
/// extension NoteRecord: SyncRecord {}     // the entity has Boolean attributes isUploaded and wasDeleted
///
/// for note in try await manager.fetchModelsToUpload(entity: NoteRecord.self) {
///     try await server.put(note)
///     try await manager.markAsUploaded(entity: NoteRecord.self, uids: [note.uid])
/// }
/// ```
///
/// Its states are two Boolean attributes. A record that was just made, and says neither, waits to be uploaded.
public protocol SyncRecord: DataRecord {
    /// The attribute that says whether the server has the record as it is here. Unless you say otherwise, `"isUploaded"`.
    static var isUploadedKey: String { get }

    /// The attribute that says whether the record is to be deleted once the server knows. Unless you say otherwise, `"wasDeleted"`.
    static var wasDeletedKey: String { get }
}

extension SyncRecord {
    /// `"isUploaded"`.
    public static var isUploadedKey: String { "isUploaded" }

    /// `"wasDeleted"`.
    public static var wasDeletedKey: String { "wasDeleted" }
}
