import Foundation

/// The programs of a PostgreSQL server that is installed here.
package struct PostgresPrograms: Sendable {
    /// The folder with `initdb` and `postgres`.
    package let folder: String

    /// What is installed; nil for nothing.
    package static let installed: PostgresPrograms? = {
        var folders: [String] = []
        if let told = ProcessInfo.processInfo.environment["PIPPIN_POSTGRES_BIN"] { folders.append(told) }
        // Debian keeps the programs of each version in a folder of its own; the newest one is taken.
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        folders += versions.sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }.map { "/usr/lib/postgresql/\($0)/bin" }
        folders += (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        return folders.first { folder in
            ["initdb", "postgres"].allSatisfy { FileManager.default.isExecutableFile(atPath: "\(folder)/\($0)") }
        }.map(PostgresPrograms.init)
    }()

    /// Why tests are skipped where nothing is installed.
    package static let reason =
        "PostgreSQL's server programs are not installed; Scripts/install-dependencies installs them"
}
