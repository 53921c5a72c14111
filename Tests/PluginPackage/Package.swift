// swift-tools-version: 6.0
import Foundation
import PackageDescription

// A package of a user's, as CoreDataPlugin finds it: Tests/Scripts/test-plugin builds and runs it. With OPTIMIZED set
// it is compiled as in a release build, which links differently, on top of a debug build of Pippin.
let settings: [SwiftSetting] =
    ProcessInfo.processInfo.environment["OPTIMIZED"] == nil
    ? [] : [.unsafeFlags(["-O", "-whole-module-optimization"])]

let package = Package(
    name: "PluginPackage",
    platforms: [.macOS(.v14)],
    dependencies: [.package(name: "Pippin", path: "../..")],
    targets: [
        // A module whose types are those of properties.
        .target(name: "Geometry", swiftSettings: settings),
        // Record classes in every style, and a model with every setting of code generation.
        .target(
            name: "Library", dependencies: ["Geometry", .product(name: "CoreData", package: "Pippin")],
            swiftSettings: settings + [.define("WITH_NOTES")],
            plugins: [.plugin(name: "CoreDataPlugin", package: "Pippin")]),
        .executableTarget(
            name: "Check", dependencies: ["Library", .product(name: "CoreData", package: "Pippin")],
            exclude: ["Drafts"], swiftSettings: settings,
            plugins: [.plugin(name: "CoreDataPlugin", package: "Pippin")]),
    ],
    swiftLanguageModes: [.v6]
)
