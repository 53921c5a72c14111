import Foundation
import Testing

/// What goes wrong in a process that migrates a store.
struct Fault {
    /// As the preloaded library knows them.
    enum Kind: String, CaseIterable, Sendable { case kill, torn, full, error }

    let kind: Kind
    /// The number of the operation, from 1.
    let operation: Int
}

/// How a process ended.
struct ChildEnd {
    enum Way: Equatable { case succeeded, failed, killed, crashed(Int32) }

    let way: Way
    let errors: String
    /// How many operations on files there were; `nil` for a process that was killed.
    let operations: Int?
}

/// Runs `MigrationChild` with a library that counts its operations on files, and lets one go wrong.
struct ChildProcess {
    let library: URL
    let executable: URL

    /// Compiles the library into a folder.
    init(in folder: URL) throws {
        library = folder.appendingPathComponent("faults.so")
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "FaultInjection.c")
        let compiler = Process()
        compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        compiler.arguments = ["clang", "-shared", "-fPIC", "-O1", "-o", library.path, source.path, "-ldl"]
        try compiler.run()
        compiler.waitUntilExit()
        try #require(compiler.terminationStatus == 0, "the library of faults was not compiled")
        executable = Bundle.main.bundleURL.appendingPathComponent("MigrationChild")
        try #require(FileManager.default.isExecutableFile(atPath: executable.path), "\(executable.path) is missing")
    }

    func run(_ verb: String, _ store: URL, _ fault: Fault? = nil) throws -> ChildEnd {
        let count = store.deletingLastPathComponent().path + ".count"
        if FileManager.default.fileExists(atPath: count) { try FileManager.default.removeItem(atPath: count) }
        let process = Process()
        process.executableURL = executable
        process.arguments = [verb, store.path]
        var environment = ProcessInfo.processInfo.environment
        environment["LD_PRELOAD"] = library.path
        environment["FAULT_FOLDER"] = store.deletingLastPathComponent().path + "/"
        environment["FAULT_COUNT"] = count
        environment["FAULT_KIND"] = fault?.kind.rawValue
        environment["FAULT_AT"] = fault.map { "\($0.operation)" }
        process.environment = environment
        let errors = Pipe()
        process.standardError = errors
        try process.run()
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let number = try? String(contentsOfFile: count, encoding: .utf8)
        return ChildEnd(
            way: way(process), errors: text,
            operations: number.flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) })
    }

    private func way(_ process: Process) -> ChildEnd.Way {
        let status = process.terminationStatus
        if process.terminationReason == .uncaughtSignal { return status == SIGKILL ? .killed : .crashed(status) }
        return status == 0 ? .succeeded : status == 1 ? .failed : .crashed(status)
    }
}
