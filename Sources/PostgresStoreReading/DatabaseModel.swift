import CoreDataPostgres
import Foundation
import PostgresConnection
import StoreReading

/// The copy of the model that a store in PostgreSQL keeps.
struct DatabaseModel {
    let keepsHistory: Bool
    private let place: StorePlace
    /// Nil if it keeps none.
    private let cache: Data?
    /// The entities of the store: of one configuration, they are not all of the model.
    let entities: Set<String>

    /// - Throws: the server's errors, and `CommandError` if there is no store.
    init(in place: StorePlace) throws {
        self.place = place
        var parameters = PostgresParameters()
        parameters.append(place.schema)
        let result: PostgresResult
        do {
            result = try PostgresConnection(place.target).query(
                "SELECT model, keeps_history, metadata FROM pippin.stores WHERE schema_name = $1", parameters)
        } catch let error as PostgresError where error.state == "42P01" || error.state == "3F000" {
            throw CommandError("there is no store in \(place.name)")
        } catch {
            throw PostgresStoreError.make(
                error, fallback: CoreDataErrorCode.persistentStoreOpen, work: "read the model of", place: place)
        }
        guard result.count == 1 else { throw CommandError("there is no store in \(place.name)") }
        cache = result.isNull(0, 0) ? nil : result.data(0, 0)
        keepsHistory = result.integer(0, 1) == 1
        let metadata = try? StoreMetadata.metadata(
            of: result.data(0, 2), uuid: "", url: place.shownURL ?? URL(fileURLWithPath: "/"))
        entities = Set(StoreMetadata.hashes(in: metadata ?? [:]).keys)
    }

    /// The model.
    ///
    /// - Throws: `CommandError` if there is no model, or it cannot be read.
    func candidate() throws -> ModelCandidate {
        guard let cache else {
            throw CommandError(
                "the store in \(place.name) keeps no copy of its model; --model names one to read it with")
        }
        return try ModelCandidate(cache: cache, origin: "the copy that the store keeps")
    }
}
