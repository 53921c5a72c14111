import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

extension SQLiteEngine: MigratedEngine {
    /// Removes one table or column whose removal was deferred, and records that in the metadata, in one transaction.
    ///
    /// - Returns: whether there was a task.
    package func finishDeferredTask() throws -> Bool {
        try following { try finishDeferredTask(of: $0) }
    }

    private func finishDeferredTask(of store: OpenStore) throws -> Bool {
        let (file, schema) = (store.file, store.schema)
        let structure = try StoreStructure(file)
        var left = DeferredCleanup(try file.metadata())
        guard !left.tasks.isEmpty else { return false }
        let task = DeferredCleanup([left.tasks.removeFirst()]).sparing(schema)
        let url = file.url
        // A statement that is being stepped would lock the table.
        file.connection.removeCachedStatements()
        try file.run("finish the migration of", fallback: CoreDataErrorCode.migration) {
            try store.transaction {
                for task in structure.existing(task).tasks { try file.connection.execute(task.sql) }
                var metadata = try file.metadata()
                left.note(in: &metadata)
                let update = try file.connection.prepare(StoreTablesSQL.updateMetadata)
                try update.bind(StoreMetadata.data(of: metadata, url: url), at: 1)
                try update.run()
            }
        }
        left.note(in: &facts.metadata)
        return true
    }
}

extension StoreStructure {
    /// The tasks whose table or column still exists: metadata that another process has kept in memory may contain
    /// finished ones.
    package func existing(_ cleanup: DeferredCleanup) -> DeferredCleanup {
        DeferredCleanup(
            cleanup.tasks.filter { task in
                switch task {
                case .table(let name): return tables[name] != nil
                case .column(let name, let table): return columnNames(table).contains(name)
                }
            })
    }

    /// The structure without what the tasks remove.
    package func removing(_ cleanup: DeferredCleanup) -> StoreStructure {
        var structure = self
        for task in cleanup.tasks {
            switch task {
            case .table(let name):
                structure.tables[name] = nil
                structure.indexes = structure.indexes.filter { $0.value.table != name }
            case .column(let name, let table): structure.tables[table]?.removeAll { $0.name == name }
            }
        }
        return structure
    }
}
