import CoreDataModel
import Foundation
import PostgresConnection
import StoreEngine

/// Writes a store's metadata.
enum MetadataWriting {
    /// Replaces the metadata, and the UUID if they contain one. Core Data's own entries stay.
    static func write(_ metadata: [String: Any], _ place: StorePlace, _ connection: PostgresConnection) throws {
        var parameters = PostgresParameters()
        parameters.append(place.schema)
        let url = place.shownURL ?? URL(fileURLWithPath: "/")
        let stored = try connection.query(
            "SELECT uuid, metadata FROM pippin.stores WHERE schema_name = $1 FOR UPDATE", parameters)
        guard stored.count == 1 else { return }
        let present = try StoreMetadata.metadata(of: stored.data(0, 1), uuid: stored.string(0, 0), url: url)
        let kept = present.filter { StoreMetadata.isReserved($0.key) }
        let merged = kept.merging(metadata.filter { !StoreMetadata.describesModel($0.key) }) { $1 }
        parameters.append(try StoreMetadata.data(of: merged, url: url))
        parameters.append(metadata[NSStoreUUIDKey] as? String)
        try connection.query(
            "UPDATE pippin.stores SET metadata = $2, uuid = COALESCE($3, uuid) WHERE schema_name = $1", parameters)
    }
}

extension OpenDatabase {
    /// The statements that write and delete notes, within the transaction of a save.
    func requests(_ notes: [String: Data?]) -> [PostgresConnection.Request] {
        if notes.isEmpty { return [] }
        var (names, removed) = (PostgresArray(.text), PostgresArray(.text))
        var contents = PostgresArray(.bytes)
        for (name, note) in notes.sorted(by: { $0.key < $1.key }) {
            guard let note else {
                removed.append(name)
                continue
            }
            names.append(name)
            contents.append(note)
        }
        var (written, deleted) = (PostgresParameters(), PostgresParameters())
        written.append(place.schema)
        written.append(names)
        written.append(contents)
        deleted.append(place.schema)
        deleted.append(removed)
        var requests: [PostgresConnection.Request] = []
        if notes.values.contains(where: { $0 != nil }) {
            requests.append(
                .init(
                    """
                    INSERT INTO pippin.notes (schema_name, name, note) SELECT $1, u.name, u.note FROM unnest($2, $3) AS u(name, note) \
                    ON CONFLICT (schema_name, name) DO UPDATE SET note = EXCLUDED.note
                    """, written))
        }
        if notes.values.contains(where: { $0 == nil }) {
            requests.append(.init("DELETE FROM pippin.notes WHERE schema_name = $1 AND name = ANY($2)", deleted))
        }
        return requests
    }
}
