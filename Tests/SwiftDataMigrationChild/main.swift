import Foundation
import SwiftDataPostgres

/// What a migration test runs in a process of its own: `SwiftDataMigrationChild make STORE ROWS`, and
/// `SwiftDataMigrationChild migrate STORE`, through three versions. A store is a file, or `postgresql://…`.
func run(_ arguments: [String]) throws {
    guard arguments.count >= 2 else { throw CocoaError(.featureUnsupported) }
    let place = arguments[1]
    let configuration =
        place.hasPrefix("postgresql:")
        ? ModelConfiguration(postgres: place) : ModelConfiguration(url: URL(fileURLWithPath: place))
    switch arguments[0] {
    case "make":
        let container = try ModelContainer(
            for: Schema(versionedSchema: EntriesV1.self), configurations: [configuration])
        let context = ModelContext(container)
        for number in 0..<(arguments.count > 2 ? Int(arguments[2]) ?? 0 : 0) {
            context.insert(EntriesV1.Entry(number))
        }
        try context.save()
    case "migrate":
        _ = try ModelContainer(
            for: Schema(versionedSchema: EntriesV3.self), migrationPlan: EntriesPlan.self,
            configurations: [configuration])
    default: throw CocoaError(.featureUnsupported)
    }
}

do { try run(Array(CommandLine.arguments.dropFirst())) } catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}
