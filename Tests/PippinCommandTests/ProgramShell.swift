import Foundation
import Testing

/// Runs a line of the shell, in which `$PIPPIN` is the program, beside the tests.
func shell(_ line: String, temporary: URL) throws -> (status: Int32, output: String, errors: String) {
    let program = Bundle.main.bundleURL.appendingPathComponent("pippin")
    try #require(FileManager.default.isExecutableFile(atPath: program.path))
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    process.arguments = ["-c", line]
    var environment = ProcessInfo.processInfo.environment
    environment["PIPPIN"] = program.path
    environment["TMPDIR"] = temporary.path
    process.environment = environment
    let (output, errors) = (Pipe(), Pipe())
    (process.standardOutput, process.standardError) = (output, errors)
    try process.run()
    let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let told = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, said, told)
}

/// The names in a folder.
func names(in folder: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
}

/// The permissions of a file.
func mode(of file: URL) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
    return try #require(attributes[.posixPermissions] as? NSNumber).intValue
}
