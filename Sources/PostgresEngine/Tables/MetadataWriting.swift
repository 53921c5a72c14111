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
