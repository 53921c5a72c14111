import CoreDataModel
import SQLGeneration
import StoreEngine

extension OpenDatabase {
    /// The properties of a store that do not depend on the connection.
    struct Configuration {
        let place: StorePlace
        var schema: SQLSchema
        var identity: StoreIdentity
        let settings: StoreSettings
        /// Whether a pooler is in between, so that statements may not stay on the server; see
        /// ``NSPostgreSQLPooledOption``.
        var isPooled = false
        /// Whether changes are recorded in the history.
        var hasHistory = false
        /// The number of migrations of the store when its schema was read.
        var generation: Int64 = 0
        /// Whether nothing is written, so that a standby suffices.
        var isReadOnly = false
    }

    var place: StorePlace { configuration.place }
    var schema: SQLSchema { configuration.schema }
    var identity: StoreIdentity { configuration.identity }
    var settings: StoreSettings { configuration.settings }
    var isPooled: Bool { configuration.isPooled }
    var hasHistory: Bool { configuration.hasHistory }
    var generation: Int64 { configuration.generation }
    var isReadOnly: Bool { configuration.isReadOnly }
}
