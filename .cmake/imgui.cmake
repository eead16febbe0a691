# Dear ImGui, ImPlot, ImPlot3D, the command palette and the test engine, built from the bundle that bootstrap fetched.
if(NOT RINGWRIGHT_GUI)
  return()
endif()
